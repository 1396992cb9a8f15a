"""The data file of MPI calls (preload/hooks/mpi/calls.json) against the headers of the MPI libraries that are
installed, and the hooks that are made of it against themselves: test_mpi_calls.py SOURCE_ROOT EXPORTS [HEADER...]"""
import pathlib
import re
import sys
import unittest

ROOT, EXPORTS, HEADERS = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
sys.path.insert(0, str(ROOT / "preload" / "hooks" / "mpi"))
import generate # noqa: E402

# How C passes what a role says. A pointer to anything is as good as any other.
POINTER = {"choice", "counts", "types", "new_comm", "old_comm", "request", "requests", "integer_out", "status", "statuses",
           "flag", "index", "found", "indices", "new_window", "old_window", "new_file", "old_file", "message", "old_type",
           "new_session", "old_session", "integers", "words", "pointer", "string", "strings", "string_lists"}
VALUE = {"type": "MPI_Datatype", "comm": "MPI_Comm", "rank": "int", "tag": "int", "request_value": "MPI_Request",
         "integer": "int", "window": "MPI_Win", "file": "MPI_File", "group": "MPI_Group", "info": "MPI_Info",
         "op": "MPI_Op", "errhandler": "MPI_Errhandler"}

# Functions with a handle of something that communicates, which do not communicate.
LOCAL = re.compile(r"""MPIX?_(
    (Comm|Win|File|Session|Type)_(get|set|call|create|free|delete)_\w*(attr|errhandler|keyval|info|name|pset\w*)
    |(Comm|Win|File|Request|Message|Session|Group|Type|Op|Info|Errhandler)_(c2f|f2c|toint|fromint)
    |(Attr|Errhandler)_(get|put|set|delete)
    |Comm_(compare|get_parent|group|rank|size|remote_group|remote_size|test_inter|attach_buffer)
    |Comm_(failure_ack|failure_get_acked|revoke)
    |Session_(attach_buffer|get_num_psets|get_nth_pset)|Group_from_session_pset
    |(Cart|Graph)_(coords|get|map|rank|shift|neighbors|neighbors_count)|Cartdim_get|Graphdims_get
    |Dist_graph_neighbors|Dist_graph_neighbors_count|Topo_test
    |Pack|Unpack|Pack_size
    |Grequest_complete|Grequest_class_allocate|Grequest_start
    |DUP_FN|File_(get_\w+|seek)|Win_(attach|detach|get_group|shared_query|sync)
    )(_c)?$""", re.VERBOSE)


def prototypes(path):
    text = pathlib.Path(path).read_text(errors="replace")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    found = {}
    for match in re.finditer(r"\bint\s+(MPIX?_\w+)\s*\(([^;{}()]*)\)[^;{}]*;", text):
        arguments = [re.sub(r"\s+", " ", word).strip() for word in match[2].split(",")]
        found.setdefault(match[1], [] if arguments in ([""], ["void"]) else arguments)
    return found


def matches(how, text, large):
    text = re.sub(r"\bconst\b", "", text).strip()
    is_pointer = "*" in text or "[" in text or "_function" in text.lower() or "_fn" in text
    if how in POINTER:
        return is_pointer
    kind = text.split(" ")[0]
    if is_pointer:
        return False
    if how == "count":
        return kind == ("MPI_Count" if large else "int")
    if how == "either":
        return kind in ("int", "MPI_Count")
    if how == "unit":
        return kind == ("MPI_Aint" if large else "int")
    if how == "word":
        return kind in ("MPI_Aint", "MPI_Offset", "MPI_Session")
    return kind == VALUE[how]


class Calls(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.forms = generate.read_forms(ROOT / "preload" / "hooks" / "mpi" / "calls.json")
        cls.by_name = {name: form for form in cls.forms for name in [form.name, *form.also]}

    def test_no_name_stands_twice(self):
        names = generate.exported_names(self.forms)
        self.assertEqual(sorted(names), sorted(set(names)))

    def test_export_list_is_the_data_file(self):
        self.assertEqual(sorted(EXPORTS.read_text().replace(";", "").split()),
                         sorted(generate.exported_names(self.forms)))

    def test_arguments_are_those_of_the_headers(self):
        if not HEADERS:
            self.skipTest("no MPI library is installed")
        compared = 0
        for header in HEADERS:
            for name, arguments in prototypes(header).items():
                form = self.by_name.get(name)
                if not form:
                    continue
                with self.subTest(header=header, name=name):
                    wanted = [argument for argument in arguments if argument != "..."]
                    self.assertEqual(len(wanted), len(form.arguments), wanted)
                    for (how, argument), text in zip(form.arguments, wanted):
                        self.assertTrue(matches(how, text, form.large), f"{argument} ({how}) is '{text}'")
                compared += 1
        self.assertGreater(compared, 250)

    def test_nothing_that_communicates_is_forgotten(self):
        if not HEADERS:
            self.skipTest("no MPI library is installed")
        handle = re.compile(r"\bMPI_(Comm|Request|Win|File|Message|Session)\b")
        for header in HEADERS:
            forgotten = [name for name, arguments in prototypes(header).items()
                         if name not in self.by_name and any(handle.search(text) for text in arguments)
                         and not LOCAL.match(name)]
            self.assertEqual(forgotten, [], header)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
