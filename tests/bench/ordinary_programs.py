"""Programs that everybody has, with inputs made here: what the benchmarks of `plumb run` wrap. Each runs for 1 to 10 seconds on a
CPU of 2024, but for those that measure start-up."""

import shutil

PYTHON = "/usr/bin/python3"


def cpp_source(count=24):
    """A file that keeps the compiler busy for some seconds: many distinct instantiations, no headers of ours."""
    lines = ["#include <algorithm>", "#include <functional>", "#include <map>", "#include <regex>", "#include <string>",
             "#include <unordered_map>", "#include <vector>"]
    for number in range(count):
        lines.append(
            f"struct T{number} {{ int a[{number + 1}]; bool operator<(const T{number}& o) const {{ return a[0] < o.a[0]; }} }};\n"
            f"int use{number}(std::vector<T{number}> v, std::map<std::string, T{number}> m) {{\n"
            f"  std::sort(v.begin(), v.end()); std::stable_sort(v.begin(), v.end());\n"
            f"  std::unordered_map<std::string, std::function<int(T{number})>> f;\n"
            f"  for (auto& e : m) f[e.first] = [](T{number} t) {{ return t.a[0]; }};\n"
            f"  int s = 0; for (auto& e : v) for (auto& g : f) s += g.second(e);\n"
            f"  return s + (int)std::regex_match(\"x\", std::basic_regex<char>(\"[a-z]{number}\"));\n}}")
    return "\n".join(lines)


BULK_SQL = """CREATE TABLE t(a INTEGER, b TEXT, c REAL);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<4000000)
 INSERT INTO t SELECT i, 'row ' || i, i * 0.5 FROM n;
COMMIT;
CREATE INDEX x ON t(b);
SELECT count(*), sum(a), max(b) FROM t;
"""

JSON = """import json
rows = [{"id": i, "name": "row %d" % i, "values": [i * 0.5, i * 3, None, True], "of": {"a": i, "b": str(i)}} for i in range(60000)]
for _ in range(8):
    rows = json.loads(json.dumps(rows))
print(len(rows))
"""

AWK = "{ count[$3 % 5000] += length($1); text = text substr($1, 1, 1); if (length(text) > 500) text = \"\" } END { for (i in count) s += count[i]; print s }"

LENNARD_JONES = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 14 0 14 0 14
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
run 300
"""

JAVA = """import java.util.*;
public class Words {
    public static void main(String[] arguments) {
        Map<String, Integer> counts = new TreeMap<>();
        long state = 1;
        for (int i = 0; i < 1500000; i++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            counts.merge("word" + (state >>> 50), 1, Integer::sum);
        }
        System.out.println(counts.size());
    }
}
"""

MAKEFILE = "all: {objects}\n%.o: %.cpp\n\tg++ -O1 -c $< -o $@\nclean:\n\trm -f *.o\n"


def write_inputs(folder):
    """All inputs, into a pathlib.Path: about 60 MB."""
    with open(folder / "data", "wb") as data:
        for number in range(600_000):
            data.write(f"{number * 2654435761 % 4294967296:x} plumb line {number}\n".encode())
    (folder / "large").write_bytes((folder / "data").read_bytes() * 3)
    (folder / "input.cpp").write_text(cpp_source())
    (folder / "bulk.sql").write_text(BULK_SQL)
    (folder / "json_rows.py").write_text(JSON)
    (folder / "lj.in").write_text(LENNARD_JONES)
    (folder / "Words.java").write_text(JAVA)
    many = folder / "many"
    many.mkdir()
    parts = 6
    for part in range(parts):
        (many / f"part{part}.cpp").write_text("#include <map>\n#include <string>\n"
                                              f"int part{part}(std::map<std::string, int> m) {{ return m[\"{part}\"]; }}\n")
    (many / "Makefile").write_text(MAKEFILE.format(objects=" ".join(f"part{part}.o" for part in range(parts))))


def all_programs(folder):
    """{name: command}, on the inputs in `folder`."""
    data = str(folder / "data")
    return {
        "/bin/true": ["/bin/true"],
        "sh, 200 x /bin/true": ["sh", "-c", "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done"],
        "awk": ["awk", AWK] + [str(folder / "large")] * 5,
        "python3 json": [PYTHON, str(folder / "json_rows.py")],
        "LAMMPS": ["lmp", "-log", "none", "-in", str(folder / "lj.in")],
        "java": ["java", str(folder / "Words.java")],
        "sqlite3": ["sqlite3", ":memory:", f".read {folder / 'bulk.sql'}"],
        "make -j2": ["make", "-j2", "-B", "-s", "-C", str(folder / "many")],
        "bzip2": ["bzip2", "-c", str(folder / "large")],
        "zstd": ["zstd", "-15", "-q", "-f", "-c", data],
        "gzip": ["gzip", "-9", "-c", str(folder / "large")],
        "g++ -O2": ["g++", "-O2", "-c", str(folder / "input.cpp"), "-o", str(folder / "input.o")],
        "xz": ["xz", "-6", "-T1", "-c", data],
        "a minute of gzip": ["gzip", "-9", "-c"] + [str(folder / "large")] * 8,
    }


def ordinary_programs(folder):
    """Those that are installed and take seconds."""
    return {name: command for name, command in all_programs(folder).items()
            if shutil.which(command[0]) and not name.startswith("a minute")}


def missing_programs(folder):
    """Names of those that are not installed."""
    return [name for name, command in all_programs(folder).items() if not shutil.which(command[0])]
