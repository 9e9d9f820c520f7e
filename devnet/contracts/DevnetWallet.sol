// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// A wallet that is a contract. It holds tokens, receives payments, and accepts the signatures of its owner as its own (ERC-1271), in 65
/// bytes or in 64 (EIP-2098). For local chains only.
contract DevnetWallet is IERC1271 {
    address public immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    receive() external payable {}

    /// Calls another contract from the wallet's address.
    function execute(address to, uint256 value, bytes calldata data) external returns (bytes memory) {
        require(msg.sender == owner, "not the owner");
        (bool done, bytes memory result) = to.call{value: value}(data);
        require(done, "not done");
        return result;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        return signer(hash, signature) == owner ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }

    function signer(bytes32 hash, bytes calldata signature) private pure returns (address found) {
        if (signature.length == 64) {
            (found,,) = ECDSA.tryRecover(hash, bytes32(signature[:32]), bytes32(signature[32:]));
        } else {
            (found,,) = ECDSA.tryRecover(hash, signature);
        }
    }
}
