#!/usr/bin/env python3
"""The page's TypeScript is well typed: test_page_types.py BUNDLE WORK_DIR_OF_THE_BUNDLE"""
import pathlib
import subprocess
import sys

bundle, work = map(pathlib.Path, sys.argv[1:3])
compiler = work / "node_modules" / ".bin" / "tsc"
if bundle.stat().st_size == 0:
    print("the page was built without charts")
    sys.exit(77)  # skipped
sys.exit(subprocess.run([str(compiler), "--project", str(work)], check=False).returncode)
