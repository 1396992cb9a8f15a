#!/usr/bin/env python3
"""Makes C++ of the page's style and script: embed.py STYLE SCRIPT OUTPUT.cpp"""
import base64
import hashlib
import pathlib
import sys


def literal(data):
    """C++ string literals of at most 8,000 bytes each (compilers limit one), to be concatenated."""
    escaped = {0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x3F: "\\?"}
    pieces = []
    for start in range(0, len(data), 4000):
        chunk = data[start:start + 4000]
        text = "".join(escaped.get(byte, chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}") for byte in chunk)
        pieces.append(f'    "{text}"')
    return "\n".join(pieces) or '    ""'


def main():
    style, script, output = (pathlib.Path(argument) for argument in sys.argv[1:4])
    style_bytes, script_bytes = style.read_bytes(), script.read_bytes()
    digest = "sha256-" + base64.b64encode(hashlib.sha256(script_bytes).digest()).decode()
    output.write_text(f"""// Made by page/embed.py.
#include "reports/html/page_assets.h"

namespace plumb {{

const std::string_view kPageStyle{{
{literal(style_bytes)}, {len(style_bytes)}}};
const std::string_view kPageScript{{
{literal(script_bytes)}, {len(script_bytes)}}};
const std::string_view kPageScriptHash = "{digest}";

}} // namespace plumb
""")


if __name__ == "__main__":
    main()
