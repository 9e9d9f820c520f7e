// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";

/// The code that all pools of a factory run, with the events of Sudoswap's second version. A pool is a proxy that appends 81 bytes to the call
/// data and delegates the call to this contract. A pool has no price curve: the caller names the price. For local chains only.
contract DevnetPool {
    event SwapNFTInPair(uint256 amountOut, uint256[] ids);
    event SwapNFTOutPair(uint256 amountIn, uint256[] ids);

    receive() external payable {}

    /// Sells tokens of the pool for the value that is sent.
    function swapTokenForSpecificNFTs(uint256[] calldata ids, uint256, address recipient, bool, address)
        external
        payable
        returns (uint256)
    {
        for (uint256 i; i < ids.length; ++i) nft().transferFrom(address(this), recipient, ids[i]);
        emit SwapNFTOutPair(msg.value, ids);
        return msg.value;
    }

    /// Buys tokens of the caller, who has approved the pool, for `amount`.
    function swapNFTsForToken(uint256[] calldata ids, uint256 amount, address payable recipient, bool, address)
        external
        returns (uint256)
    {
        for (uint256 i; i < ids.length; ++i) nft().transferFrom(msg.sender, address(this), ids[i]);
        (bool paid,) = recipient.call{value: amount}("");
        require(paid, "not paid");
        emit SwapNFTInPair(amount, ids);
        return amount;
    }

    /// The collection is the third of the appended addresses.
    function nft() private pure returns (IERC721 collection) {
        assembly {
            collection := shr(0x60, calldataload(add(sub(calldatasize(), 81), 40)))
        }
    }
}
