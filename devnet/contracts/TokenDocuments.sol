// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Base64} from "@openzeppelin/contracts/utils/Base64.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// Metadata as data URIs, so that local chains need no host for it. Name, picture and traits follow from the collection and the token id.
library TokenDocuments {
    function ofToken(string memory collection, uint256 id) internal pure returns (string memory) {
        uint256 seed = uint256(keccak256(abi.encode(collection, id)));
        string memory hue = Strings.toString(seed % 360);
        return toDocument(
            string.concat(
                '{"name":"', collection, " #", Strings.toString(id),
                '","description":"A token of a local chain.","image":"', picture(hue),
                '","attributes":[{"trait_type":"Colour","value":"', pick(seed >> 16, ["Amber", "Coral", "Indigo", "Jade", "Pearl"]),
                '"},{"trait_type":"Season","value":"', pick(seed >> 32, ["Autumn", "Spring", "Summer", "Winter", "Harvest"]),
                '"},{"trait_type":"Weight","display_type":"number","value":', Strings.toString(1 + ((seed >> 48) % 9)), "}]}"
            )
        );
    }

    function ofCollection(string memory collection, uint256 royaltyBps) internal pure returns (string memory) {
        return toDocument(
            string.concat(
                '{"name":"', collection, '","description":"A collection of a local chain.","image":"', picture("200"),
                '","banner_image":"', picture("40"), '","seller_fee_basis_points":', Strings.toString(royaltyBps), "}"
            )
        );
    }

    function toDocument(string memory json) private pure returns (string memory) {
        return string.concat("data:application/json;base64,", Base64.encode(bytes(json)));
    }

    function picture(string memory hue) private pure returns (string memory) {
        bytes memory svg = abi.encodePacked(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9" fill="hsl(', hue, ',60%,50%)"/></svg>'
        );
        return string.concat("data:image/svg+xml;base64,", Base64.encode(svg));
    }

    function pick(uint256 seed, string[5] memory names) private pure returns (string memory) {
        return names[(seed % 65536) * (seed % 65536) * 5 >> 32];
    }
}
