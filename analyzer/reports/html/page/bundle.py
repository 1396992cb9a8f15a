#!/usr/bin/env python3
"""Bundles the page's charts: bundle.py SOURCE_DIR WORK_DIR OUTPUT auto|enabled

Everything is fetched and built in WORK_DIR; the source tree stays as it is. With "auto" a failure (no npm, no network)
leaves an empty OUTPUT and one sentence: the page is then built without charts.
"""
import filecmp
import json
import pathlib
import shutil
import subprocess
import sys

INPUTS = ["package.json", "package-lock.json", "tsconfig.json"]


def run(command, work):
    with open(work / "log.txt", "a") as log:
        log.write("$ " + " ".join(map(str, command)) + "\n")
        log.flush()
        subprocess.run(command, cwd=work, stdout=log, stderr=log, stdin=subprocess.DEVNULL, check=True)


def install_packages(source, work):
    """npm ci, once for each state of the lock file."""
    lock, done = source / "package-lock.json", work / "installed-lock.json"
    if done.exists() and filecmp.cmp(lock, done, shallow=False):
        return
    run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], work)
    shutil.copy(lock, done)


def licences(work, inputs):
    """The licence texts of the packages that the bundle contains, each text once."""
    packages = {}
    for path in inputs:
        parts = pathlib.PurePosixPath(path).parts
        if "node_modules" not in parts:
            continue
        start = parts.index("node_modules") + 1
        name = "/".join(parts[start:start + (2 if parts[start].startswith("@") else 1)])
        folder = work / "node_modules" / name
        text = next((file.read_text() for file in sorted(folder.glob("LICEN[SC]E*"))), "see the package")
        packages.setdefault(text.strip().replace("*/", "* /"), []).append(name)
    return "\n\n".join(f"{', '.join(sorted(set(names)))}:\n{text}" for text, names in sorted(packages.items()))


def bundle(source, work, output):
    work.mkdir(parents=True, exist_ok=True)
    (work / "log.txt").write_text("")
    for name in INPUTS:
        shutil.copy(source / name, work)
    shutil.rmtree(work / "src", ignore_errors=True)
    shutil.copytree(source / "src", work / "src")
    install_packages(source, work)
    run(["node_modules/.bin/esbuild", "src/main.ts", "--bundle", "--minify", "--format=iife", "--target=es2020",
         "--charset=utf8", "--legal-comments=none", "--metafile=meta.json", "--outfile=bundle.js"], work)
    meta = json.loads((work / "meta.json").read_text())
    script = (work / "bundle.js").read_text()
    if "</script" in script.lower() or "<!--" in script:
        raise ValueError("the bundle contains </script or <!--, which would end the page's script element")
    notices = licences(work, meta["inputs"]).replace("</script", "<\\/script").replace("<!--", "<!- -")
    output.write_text(f"/* Contains\n{notices}\n*/\n{script}")


def main():
    source, work, output = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    try:
        bundle(source, work, output)
    except (OSError, ValueError, StopIteration, subprocess.CalledProcessError) as error:
        sentence = f"the charts of the HTML report could not be bundled ({error}); see {work / 'log.txt'}"
        if sys.argv[4] == "enabled":
            sys.exit(f"error: {sentence}")
        print(f"note: {sentence}. The page is built without charts; run ninja again once npm works.", file=sys.stderr)
        output.write_text("")


if __name__ == "__main__":
    main()
