#!/usr/bin/env python3
"""The page's TypeScript is well typed: test_page_types.py WORK_DIR_OF_THE_BUNDLE"""
import pathlib
import subprocess
import sys

work = pathlib.Path(sys.argv[1])
compiler = work / "node_modules" / ".bin" / "tsc"
if not compiler.exists():
    print(f"{compiler} is not there: the page was built without charts")
    sys.exit(77)  # skipped
sys.exit(subprocess.run([str(compiler), "--project", str(work)], check=False).returncode)
