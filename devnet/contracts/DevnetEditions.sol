// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC2981} from "@openzeppelin/contracts/token/common/ERC2981.sol";
import {TokenDocuments} from "./TokenDocuments.sol";

/// A collection of ERC-1155 tokens (editions: many equal units of each token) with a royalty, for local chains only: anybody may mint tokens and
/// change the URI of the metadata. While the URI is empty, the contract itself makes the metadata.
contract DevnetEditions is ERC1155, ERC2981 {
    string public name;
    uint96 private immutable royalty;

    constructor(string memory name_, string memory uri_, address royaltyTo, uint96 royaltyBps) ERC1155(uri_) {
        name = name_;
        royalty = royaltyBps;
        _setDefaultRoyalty(royaltyTo, royaltyBps);
    }

    function mint(address to, uint256 id, uint256 units) external {
        _mint(to, id, units, "");
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata units) external {
        _mintBatch(to, ids, units, "");
    }

    function burn(uint256 id, uint256 units) external {
        _burn(msg.sender, id, units);
    }

    function setURI(uint256 id, string calldata uri_) external {
        _setURI(uri_);
        emit URI(uri_, id);
    }

    function uri(uint256 id) public view override returns (string memory) {
        string memory stored = super.uri(id);
        return bytes(stored).length == 0 ? TokenDocuments.ofToken(name, id) : stored;
    }

    function contractURI() external view returns (string memory) {
        return bytes(super.uri(0)).length == 0 ? TokenDocuments.ofCollection(name, royalty) : "";
    }

    function supportsInterface(bytes4 id) public view override(ERC1155, ERC2981) returns (bool) {
        return super.supportsInterface(id);
    }
}
