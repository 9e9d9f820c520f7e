// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC2981} from "@openzeppelin/contracts/token/common/ERC2981.sol";

/// A collection of ERC-721 tokens with a royalty. Anybody may mint tokens, and burn their own: it is for local chains only.
contract DevnetCollection is ERC721, ERC2981 {
    string private base;

    constructor(string memory name, string memory symbol, string memory uri, address royaltyTo, uint96 royaltyBps)
        ERC721(name, symbol)
    {
        base = uri;
        _setDefaultRoyalty(royaltyTo, royaltyBps);
    }

    function mint(address to, uint256 id) external {
        _mint(to, id);
    }

    function mintBatch(address to, uint256 first, uint256 count) external {
        for (uint256 i; i < count; ++i) _mint(to, first + i);
    }

    function burn(uint256 id) external {
        _update(address(0), id, msg.sender);
    }

    function supportsInterface(bytes4 id) public view override(ERC721, ERC2981) returns (bool) {
        return super.supportsInterface(id);
    }

    function _baseURI() internal view override returns (string memory) {
        return base;
    }
}
