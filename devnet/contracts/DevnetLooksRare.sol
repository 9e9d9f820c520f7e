// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";

/// Settles listings with the events of LooksRare's second exchange. For local chains only: orders have no
/// signatures and no fees.
contract DevnetLooksRare {
    struct NonceInvalidationParameters {
        bytes32 orderHash;
        uint256 orderNonce;
        bool isNonceInvalidated;
    }

    event TakerBid(
        NonceInvalidationParameters nonceInvalidationParameters,
        address bidUser,
        address bidRecipient,
        uint256 strategyId,
        address currency,
        address collection,
        uint256[] itemIds,
        uint256[] amounts,
        address[2] feeRecipients,
        uint256[3] feeAmounts
    );

    struct Listing {
        IERC721 collection;
        uint256 id;
        address seller;
        bytes32 orderHash;
    }

    /// Buys a token that the seller has approved for this contract, at the price that is sent.
    function executeTakerBid(Listing calldata listing, address recipient) external payable {
        listing.collection.transferFrom(listing.seller, recipient, listing.id);
        (bool paid,) = listing.seller.call{value: msg.value}("");
        require(paid, "not paid");
        emit TakerBid(
            NonceInvalidationParameters(listing.orderHash, 0, true),
            msg.sender,
            recipient,
            0,
            address(0),
            address(listing.collection),
            one(listing.id),
            one(1),
            [listing.seller, address(0)],
            [msg.value, 0, 0]
        );
    }

    function one(uint256 value) private pure returns (uint256[] memory list) {
        list = new uint256[](1);
        list[0] = value;
    }
}
