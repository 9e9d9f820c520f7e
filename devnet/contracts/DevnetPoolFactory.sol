// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Makes pools as the factory of Sudoswap's second version does: as proxies whose code ends with the parameters of the pool. The template has a
/// constant address, because only the code of this contract is copied to the address of the real factory, and not its storage. For local chains only.
contract DevnetPoolFactory {
    address private constant TEMPLATE = address(0xe721);

    event NewERC721Pair(address indexed poolAddress, uint256[] initialIds);

    function erc721ETHTemplate() external pure returns (address) {
        return TEMPLATE;
    }

    /// The other kinds of pools have templates that are not deployed.
    function erc721ERC20Template() external pure returns (address) {
        return address(1);
    }

    function erc1155ETHTemplate() external pure returns (address) {
        return address(2);
    }

    function erc1155ERC20Template() external pure returns (address) {
        return address(3);
    }

    /// Makes a pool for the tokens of a collection, without a curve and without a property checker.
    function createPairERC721ETH(address nft) external payable returns (address pool) {
        bytes memory code = abi.encodePacked(
            hex"60863d8160093d39f33d3d3d3d363d3d37605160353639366051013d73",
            TEMPLATE,
            hex"5af43d3d93803e603357fd5bf3",
            address(this),
            address(0),
            nft,
            uint8(2),
            address(0)
        );
        assembly {
            pool := create(callvalue(), add(code, 0x20), mload(code))
        }
        require(pool != address(0), "not created");
        emit NewERC721Pair(pool, new uint256[](0));
    }
}
