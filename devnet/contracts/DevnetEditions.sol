// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC2981} from "@openzeppelin/contracts/token/common/ERC2981.sol";

/// A collection of ERC-1155 tokens (editions: many equal units of each token) with a royalty. Anybody may mint: for local chains only.
contract DevnetEditions is ERC1155, ERC2981 {
    string public name;

    constructor(string memory name_, string memory uri, address royaltyTo, uint96 royaltyBps) ERC1155(uri) {
        name = name_;
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

    function supportsInterface(bytes4 id) public view override(ERC1155, ERC2981) returns (bool) {
        return super.supportsInterface(id);
    }
}
