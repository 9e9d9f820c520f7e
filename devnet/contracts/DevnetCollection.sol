// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC2981} from "@openzeppelin/contracts/token/common/ERC2981.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";
import {TokenDocuments} from "./TokenDocuments.sol";

/// A collection of ERC-721 tokens with a royalty, for local chains only: anybody may mint tokens, burn their own tokens and change the base URI
/// of the metadata. While the base URI is empty, the contract itself makes the metadata.
contract DevnetCollection is ERC721, ERC2981 {
    /// ERC-4906.
    event MetadataUpdate(uint256 _tokenId);
    event BatchMetadataUpdate(uint256 _fromTokenId, uint256 _toTokenId);

    string private base;
    uint96 private immutable royalty;

    constructor(string memory name, string memory symbol, string memory uri, address royaltyTo, uint96 royaltyBps)
        ERC721(name, symbol)
    {
        base = uri;
        royalty = royaltyBps;
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

    function setBaseURI(string calldata uri) external {
        base = uri;
        emit BatchMetadataUpdate(0, type(uint256).max);
    }

    function announce(uint256 id) external {
        emit MetadataUpdate(id);
    }

    function tokenURI(uint256 id) public view override returns (string memory) {
        _requireOwned(id);
        if (bytes(base).length == 0) return TokenDocuments.ofToken(name(), id);
        return string.concat(base, Strings.toString(id));
    }

    function contractURI() external view returns (string memory) {
        if (bytes(base).length == 0) return TokenDocuments.ofCollection(name(), royalty);
        return string.concat(base, "collection");
    }

    function supportsInterface(bytes4 id) public view override(ERC721, ERC2981) returns (bool) {
        return id == 0x49064906 || super.supportsInterface(id);
    }
}
