// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";

/// Settles listings with the packed event of Blur's second exchange. For local chains only: orders have no
/// signatures and no fees.
contract DevnetBlur {
    event Execution721Packed(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide);

    /// Buys a token that `trader` has approved for this contract, at the price that is sent.
    function takeAskSingle(IERC721 collection, uint256 id, address trader, address recipient, bytes32 orderHash)
        external
        payable
    {
        collection.transferFrom(trader, recipient, id);
        (bool paid,) = trader.call{value: msg.value}("");
        require(paid, "not paid");
        emit Execution721Packed(
            orderHash, (id << 168) | uint160(trader), (msg.value << 160) | uint160(address(collection))
        );
    }
}
