// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Base64} from "@openzeppelin/contracts/utils/Base64.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// Makes metadata as data URIs, so that local chains need no host for it. The name, the picture and the traits of a token follow from its
/// collection and its id.
library TokenDocuments {
    function ofToken(string memory collection, uint256 id) internal pure returns (string memory) {
        uint256 seed = uint256(keccak256(abi.encode(collection, id)));
        return toDocument(
            string.concat(
                '{"name":"', collection, " #", Strings.toString(id),
                '","description":"A token of a local chain.","image":"', picture(seed),
                '","attributes":[{"trait_type":"Colour","value":"', pick(seed >> 16, ["Amber", "Coral", "Indigo", "Jade", "Pearl"]),
                '"},{"trait_type":"Season","value":"', pick(seed >> 32, ["Autumn", "Spring", "Summer", "Winter", "Harvest"]),
                '"},{"trait_type":"Weight","display_type":"number","value":', Strings.toString(1 + ((seed >> 48) % 9)), "}]}"
            )
        );
    }

    function ofCollection(string memory collection, uint256 royaltyBps) internal pure returns (string memory) {
        uint256 seed = uint256(keccak256(bytes(collection)));
        return toDocument(
            string.concat(
                '{"name":"', collection, '","description":"A collection of a local chain.","image":"', picture(seed),
                '","banner_image":"', picture(seed >> 64), '","seller_fee_basis_points":', Strings.toString(royaltyBps), "}"
            )
        );
    }

    function toDocument(string memory json) private pure returns (string memory) {
        return string.concat("data:application/json;base64,", Base64.encode(bytes(json)));
    }

    /// Draws a sun and a hill before a sky, each in another colour.
    function picture(uint256 seed) private pure returns (string memory) {
        bytes memory sun = abi.encodePacked(
            '<circle cx="', digit(seed >> 80), '" cy="', digit(seed >> 88), '" r="', digit(seed >> 96), colour(seed + 150, ',70%,72%)"/>')
        );
        bytes memory hill = abi.encodePacked(
            '<path d="M0 9V', digit(seed >> 104), 'L', digit(seed >> 112), ' 4L9 ', digit(seed >> 120), 'V9z', colour(seed + 40, ',45%,34%)"/>')
        );
        bytes memory svg = abi.encodePacked(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9H0z', colour(seed, ',55%,58%)"/>'), sun, hill, '</svg>'
        );
        return string.concat("data:image/svg+xml;base64,", Base64.encode(svg));
    }

    /// Ends the previous attribute of an SVG element, and adds the attribute `fill`. `rest` has saturation, lightness and the end of the element.
    function colour(uint256 seed, string memory rest) private pure returns (bytes memory) {
        return abi.encodePacked('" fill="hsl(', Strings.toString(seed % 360), rest);
    }

    /// From 2 to 7.
    function digit(uint256 seed) private pure returns (string memory) {
        return Strings.toString(2 + (seed % 6));
    }

    function pick(uint256 seed, string[5] memory names) private pure returns (string memory) {
        return names[(seed % 65536) * (seed % 65536) * 5 >> 32];
    }
}
