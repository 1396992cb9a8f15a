#!/usr/bin/env python3
"""Makes C++ of the page's style and scripts: embed.py STYLE SCRIPT UNPACK OUTPUT.cpp"""
import base64
import hashlib
import pathlib
import sys
import zlib


def literal(data):
    """C++ string literals of at most 8,000 bytes each (compilers limit one), to be concatenated."""
    escaped = {0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x3F: "\\?"}
    pieces = []
    for start in range(0, len(data), 4000):
        chunk = data[start:start + 4000]
        text = "".join(escaped.get(byte, chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}") for byte in chunk)
        pieces.append(f'    "{text}"')
    return "\n".join(pieces) or '    ""'


def digest(script):
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"


def main():
    style, script, unpack, output = (pathlib.Path(argument) for argument in sys.argv[1:5])
    style_bytes, script_bytes, unpack_bytes = style.read_bytes(), script.read_bytes(), unpack.read_bytes()
    packed_bytes = base64.b64encode(zlib.compress(script_bytes, 9)) if script_bytes else b""
    output.write_text(f"""// Made by page/embed.py.
#include "reports/html/page_assets.h"

namespace plumb {{

const std::string_view kPageStyle{{
{literal(style_bytes)}, {len(style_bytes)}}};
const std::string_view kPageScript{{
{literal(packed_bytes)}, {len(packed_bytes)}}};
const std::string_view kPageUnpack{{
{literal(unpack_bytes)}, {len(unpack_bytes)}}};
const std::string_view kPageScriptHashes = "{digest(unpack_bytes)} {digest(script_bytes)}";

}} // namespace plumb
""")


if __name__ == "__main__":
    main()
