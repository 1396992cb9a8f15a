"""Makes the hooks of MPI functions from calls.json: generate.py CALLS OUT_DIR

Writes into OUT_DIR:
  functions.h, functions.cpp   the table of functions as the recording knows them
  hooks_c.cpp, hooks_c_large.cpp, hooks_fortran.cpp, hooks_fortran_large.cpp
  exports.inc                  the exported names, for the linker's version script

A hook passes every word of its arguments on, and takes care of what calls.json says of it (see "about" there). What a
call means is written in the headers beside this file; here they are put together.
"""
import json
import os
import sys


class Form:
    """One function: a call of calls.json, or one derived from it."""

    def __init__(self, call, name, arguments, fortran, does, kinds, mode="blocking", large=False, also=()):
        self.name, self.also, self.large, self.mode = name, list(also), large, mode
        self.arguments, self.fortran, self.does, self.kinds = arguments, fortran, does, kinds
        self.variadic = call.get("variadic", False)
        self.fortran_has_error = not call.get("fortran_without_error", False)
        self.fortran_also = call.get("fortran_also", []) if mode == "blocking" and not large else []

    def has(self, argument):
        return any(name == argument for _, name in self.arguments)


def read_arguments(text, roles):
    """[(how it is passed, its name)]"""
    arguments = []
    for word in text.split():
        role, _, name = word.partition(":")
        arguments.append((roles[role], name or role))
    names = [name for _, name in arguments]
    if len(set(names)) != len(names):
        raise ValueError(f"calls.json: an argument's name stands twice in '{text}'")
    return arguments


def without(arguments, name):
    return [argument for argument in arguments if argument[1] != name]


def small_forms(call, roles):
    """The functions with int counts that one entry stands for."""
    name, kinds, does = call["name"], call["kind"].split(), call["does"]
    arguments = read_arguments(call["arguments"], roles)
    fortran = read_arguments(call["fortran"], roles) if "fortran" in call else arguments
    has_request = any(how == "requests" or how == "request" for how, _ in arguments)
    mode = "persistent" if "persistent" in kinds and has_request and name.endswith("_init") else "blocking"
    yield Form(call, name, arguments, fortran, does, kinds, mode)
    request = ("request", "request")
    active = without(arguments, "status")
    if "nonblocking" in call:
        prefix, short = ("MPI_File_", name[9:]) if name.startswith("MPI_File_") else ("MPI_", name[4:])
        yield Form(call, f"{prefix}I{short[0].lower()}{short[1:]}" if prefix == "MPI_" else f"{prefix}i{short}",
                   active + [request], active + [request], does, kinds + ["nonblocking"], "started")
    if "persistent" in call:
        info = [("info", "info")] if "collective" in kinds else []
        yield Form(call, f"{name}_init", active + info + [request], active + info + [request], does,
                   kinds + ["persistent"], "persistent", also=call.get("persistent_also", []))
    if "request_form" in call:
        yield Form(call, f"MPI_R{name[4].lower()}{name[5:]}", arguments + [request], arguments + [request],
                   does + ["makes_request request"], kinds + ["nonblocking"])


def all_forms(description):
    forms = []
    for call in description["calls"]:
        for form in small_forms(call, description["roles"]):
            forms.append(form)
            if "large" in call:
                forms.append(Form(call, f"{form.name}_c", form.arguments, form.fortran, form.does, form.kinds,
                                  form.mode, large=True, also=[f"{name}_c" for name in form.also]))
    return forms


KINDS = {"send": "kMpiSend", "receive": "kMpiReceive", "collective": "kMpiCollectiveCall",
         "nonblocking": "kMpiNonblocking", "wait": "kMpiWait", "poll": "kMpiPoll", "one_sided": "kMpiOneSided",
         "file": "kMpiFile", "set_up": "kMpiSetUp", "persistent": "kMpiPersistent", "probe": "kMpiProbe",
         "synchronising": "kMpiSynchronising", "from_root": "kMpiFromRoot", "to_root": "kMpiToRoot",
         "neighbour": "kMpiNeighbour", "prefix": "kMpiPrefix", "may_pass": "kMpiMayPass"}


class Body:
    """The statements of a hook around the call."""

    def __init__(self, form, hidden_lengths):
        self.form, self.lengths = form, hidden_lengths
        self.first, self.before, self.after, self.last = [], [], [], []
        self.needs_status = self.needs_statuses = None # None, or the count of the statuses
        self.polls = False
        self.message = None
        self.shared = None # the key of a window or file that the call frees
        for step in form.does:
            verb, *words = step.split()
            getattr(self, "do_" + verb)(*words)
        self.finish_message()
        self.tell_entry()

    # What is shown of a call that may last: whom it sends to and receives from, or which members it waits for.
    def tell_entry(self):
        form, told = self.form, []
        self.enters = []
        if "poll" in form.kinds:
            return
        shared = next((name for name in ("window", "file") if form.has(name)), None)
        if form.mode == "blocking" and "collective" in form.kinds and (shared or self.shared):
            told.append(f"call.takes_part({self.shared or f'{shared}_of<L>({shared})'}, -1);")
        elif form.mode == "blocking" and "nonblocking" not in form.kinds and form.has("comm"):
            comm, named = "raw_comm_of<L>(comm)", {name for _, name in form.arguments}
            if "collective" in form.kinds or "set_up" in form.kinds:
                told.append(f"call.takes_part({comm}, {'L::integer(root)' if 'root' in named else '-1'});")
            if "to" in named:
                tag = "send_tag" if "send_tag" in named else "tag"
                told.append(f"call.sends({comm}, L::integer(to), L::integer({tag}));")
            if "from" in named:
                tag = "recv_tag" if "recv_tag" in named else "tag"
                told.append(f"call.receives({comm}, L::integer(from), L::integer({tag}));")
        self.enters = ["if (call.shows()) {", *("    " + line for line in told), "    call.enters();", "}"]

    # Messages and collectives: told at once, or with their request.
    def operation(self, expression):
        if self.form.mode == "blocking":
            return None
        verb = "started" if self.form.mode == "started" else "made_persistent"
        return f"call.{verb}(request_at<L>(request), {expression});"

    def finish_message(self):
        if self.message:
            self.after.append(self.operation(self.message))
            self.message = None

    def do_sent(self, flags, *words):
        expression = f"sent<L>({flags}, {', '.join(words)})"
        # A request can be one message only: of MPI_Isendrecv's, the one that is waited for.
        if self.form.mode == "blocking" or any(step.startswith("received") for step in self.form.does):
            self.after.append(f"call.message({expression});")
        else:
            self.message = expression

    def do_received(self, *words):
        expression = f"received<L>({', '.join(words)})"
        if self.form.mode == "blocking":
            self.needs_status = True
            self.after += ["const Arrival arrival = own_status.arrival();", f"call.message({expression}, &arrival);"]
        else:
            self.message = expression

    def do_in_partitions(self, partitions):
        self.message = f"in_partitions<L>({self.message}, {partitions})"

    def do_received_probed(self, count, datatype, message):
        self.before += ["Message probed{};",
                        f"const bool is_probed = call.outermost() && take_probed<L>({message}, &probed);"]
        self.after += ["if (is_probed) {", f"    probed.bytes = bytes_of<L>({count}, {datatype});"]
        if self.form.mode == "blocking":
            self.needs_status = True
            self.after += ["    const Arrival arrival = own_status.arrival();", "    call.message(probed, &arrival);"]
        else:
            self.after.append("    " + self.operation("probed"))
        self.after.append("}")

    def do_collective(self, formula, *words):
        expression = f"{formula}<L>({', '.join(words)})"
        self.after.append(self.operation(expression) or f"call.collective({expression});")

    # Probes and polls.
    def do_on(self, comm):
        self.after.append(f"call.on(comm_of<L>({comm}));")

    def do_on_window(self, window):
        self.after.append(f"call.on(window_of<L>({window}));")

    def do_polls(self, flag):
        self.polls = True
        self.after += [f"const bool found = L::integer_at({flag}) != 0;", "if (!found)", "    call.found_nothing();"]

    def when_found(self, statements):
        if not self.polls:
            self.after += statements
        elif len(statements) == 1:
            self.after += ["if (found)", "    " + statements[0]]
        else:
            self.after += ["if (found) {", *("    " + line for line in statements), "}"]

    def do_takes_message(self, message, comm):
        self.needs_status = True
        self.when_found([f"remember_probed<L>({message}, {comm}, own_status.arrival());"])

    # Completion.
    def do_completes_one(self, request):
        self.needs_status = True
        self.before.append(f"will_complete<L>(call, {request});")
        self.when_found(["one_completed(call, own_status);"])

    def do_completes_all(self, number, requests):
        self.needs_statuses = f"L::integer({number})"
        self.before.append(f"will_complete<L>(call, {requests}, L::integer({number}));")
        self.when_found([f"all_completed(call, L::integer({number}), own_statuses);"])

    def indices(self, number, requests):
        return f"const IndicesOf<L>::Type counting(call.outermost(), {requests}, L::integer({number}));"

    def do_completes_any(self, number, requests, index):
        self.needs_status = True
        self.before.append(f"will_complete<L>(call, {requests}, L::integer({number}));")
        self.before.append(self.indices(number, requests))
        self.when_found([f"any_completed<L>(call, {index}, counting, L::integer({number}), own_status);"])

    def do_completes_some(self, number, requests, found, indices):
        self.needs_statuses = f"L::integer({number})"
        self.before.append(f"will_complete<L>(call, {requests}, L::integer({number}));")
        self.before.append(self.indices(number, requests))
        told = f"some_completed<L>(call, L::integer({number}), {found}, {indices}, counting, own_statuses)"
        if "poll" in self.form.kinds:
            self.after += [f"if (!{told})", "    call.found_nothing();"]
        else:
            self.after.append(f"{told};")

    # Requests.
    def do_starts(self, request):
        self.after.append(f"call.restarted(request_at<L>({request}));")

    def do_starts_all(self, number, requests):
        self.after += [f"for (int32_t i = 0; i < L::integer({number}); ++i)",
                       f"    call.restarted(request_at<L>({requests}, static_cast<size_t>(i)));"]

    def do_frees_request(self, request):
        self.before.append(f"const Handle freed = call.outermost() ? request_at<L>({request}) : 0;")
        self.after.append("call.freed(freed);")

    def do_makes_request(self, request):
        self.after.append(f"call.made_other(request_at<L>({request}));")

    # One-sided communication and files.
    def do_moves(self, direction, window, target, count, datatype):
        self.after.append(f"call.one_sided(window_of<L>({window}), L::integer({target}), "
                          f"bytes_of<L>({count}, {datatype}), trace::MpiDirection::{direction});")

    def do_moves_one(self, direction, window, target, datatype):
        self.after.append(f"call.one_sided(window_of<L>({window}), L::integer({target}), "
                          f"type_bytes(type_of<L>({datatype})), trace::MpiDirection::{direction});")

    def file_bytes(self, count, datatype):
        if self.form.mode == "started":
            self.after.append("call.made_other(request_at<L>(request));")
        if self.form.has("status") and self.form.mode == "blocking":
            self.needs_status = True
            return "own_status.bytes()"
        return f"bytes_of<L>({count}, {datatype})"

    def do_reads(self, count, datatype):
        self.after.append(f"call.file({self.file_bytes(count, datatype)}, 0);")

    def do_writes(self, count, datatype):
        self.after.append(f"call.file(0, {self.file_bytes(count, datatype)});")

    def do_reads_together(self, count, datatype):
        if self.form.mode == "blocking":
            self.after.append(f"call.collective({{file_of<L>(file), -1, 0, {self.file_bytes(count, datatype)}}});")
        else:
            self.do_reads(count, datatype)

    def do_writes_together(self, count, datatype):
        if self.form.mode == "blocking":
            self.after.append(f"call.collective({{file_of<L>(file), -1, {self.file_bytes(count, datatype)}, 0}});")
        else:
            self.do_writes(count, datatype)

    # What comes and goes.
    def do_makes_comm(self, made, parent=None):
        self.after += [f"if (const Handle made = comm_at<L>({made}); made != library().null_comm)",
                       f"    comm_made(made, {f'comm_of<L>({parent})' if parent else '0'}, caller);"]

    def do_frees_comm(self, freed):
        self.before += ["if (call.outermost())", f"    comm_freed(comm_at<L>({freed}));"]

    def do_names_comm(self, comm, name):
        length = self.lengths[0] if self.lengths else f"c_string_length({name})"
        self.after.append(f"name_comm(comm_of<L>({comm}), {name}, {length});")

    def do_makes_window(self, made, comm):
        self.after.append(f"made_on(comm_of<L>({comm}), window_at<L>({made}), caller);")

    def do_frees_window(self, freed):
        self.take_apart(f"window_at<L>({freed})")

    def do_makes_file(self, made, comm, name):
        length = self.lengths[0] if self.lengths else f"c_string_length({name})"
        self.after += [f"made_on(comm_of<L>({comm}), file_at<L>({made}), caller);",
                       f"name_comm(file_at<L>({made}), {name}, {length});"]

    def do_frees_file(self, freed):
        self.take_apart(f"file_at<L>({freed})")

    def take_apart(self, key):
        self.before += ["if (call.outermost())", f"    call.takes_apart({key});"]
        self.after.append("call.took_apart();")
        self.shared = key

    def do_frees_type(self, freed):
        self.before += ["if (call.outermost())", f"    type_freed(type_at<L>({freed}));"]

    # The life of MPI.
    def do_begins(self):
        self.first += ["const LifeCall life;", "life.will_start();"]
        self.last += ["if (error_code == 0)", "    life.started(false);"]

    def do_begins_session(self):
        self.first += ["const LifeCall life;", "life.will_start();"]
        self.last += ["if (error_code == 0)", "    life.started(true);"]

    def do_ends(self):
        self.first += ["const LifeCall life;", "life.will_end();"]
        self.last += ["if (error_code == 0)", "    life.ended();"]

    def do_aborts(self):
        self.first += ["const LifeCall life;", "life.aborted();"]

    def do_controls(self, level):
        self.first += ["const LifeCall life;"]
        self.last += [f"life.controlled(L::integer({level}));"]

    def statements(self, passed, error_code):
        yield from self.first
        yield f"Call call(kFunctions[k{self.form.name}], caller);"
        yield from self.before
        if self.needs_status:
            yield "Status<L> own_status(call, status);"
        if self.needs_statuses:
            yield f"Statuses<L> own_statuses(call, {self.needs_statuses}, statuses);"
        yield from self.enters
        yield f"const Word result = real({passed});"
        yield f"const int32_t error_code = {error_code};"
        if self.after:
            yield "if (call.returned(error_code)) {"
            yield from ("    " + line for line in self.after)
            yield "}"
        else:
            yield "call.returned(error_code);"
        yield from self.last
        yield "return result;"


def words(count):
    return ", ".join(["Word"] * count)


def parameters(names):
    return ", ".join(f"Word {name}" for name in names) if names else "void"


def indented(lines):
    return "".join(f"    {line}\n" for line in lines)


def language_named(language, lines):
    used = any("L::" in line or "<L>" in line for line in lines)
    return [f"using L = {language};"] * used + lines


def exported(symbol, names):
    return (f'extern "C" __attribute__((visibility("default"))) Word hook_{symbol}({parameters(names)}) '
            f'__asm__("{symbol}");\n'
            f"Word hook_{symbol}({parameters(names)}) {{\n"
            f'    static constinit Spelling spelling{{"{symbol}", nullptr}};\n')


def c_hook(form, symbol):
    names = [name for _, name in form.arguments] + [f"more{i}" for i in range(5 if form.variadic else 0)]
    body = Body(form, [])
    lines = [f"auto* const real = spelling.behind<Word({words(len(names))})>();",
             "if (!real)", "    return kNoSuchFunction;", "const Frame caller = PLUMB_CALLER_FRAME();"]
    lines += body.statements(", ".join(names), "static_cast<int32_t>(result)")
    lines = language_named("CLarge" if form.large else "C", lines)
    return exported(symbol, names) + indented(lines) + "}\n\n"


# The same function under several names; `descriptors`: the name's buffers are descriptors.
def fortran_spellings(form):
    base = form.name.lower()
    if form.large:
        base = base[:-2]
        return [(f"{base}_f08_large_", False), (f"{base}_f08ts_large_", True)]
    spellings = []
    for name in [base, *(name.lower() for name in form.also), *form.fortran_also]:
        spellings += [(name, False), (name + "_", False), (name + "__", False), (name.upper(), False)]
    return spellings + [(base + "_f08_", False), (base + "_f08ts_", True)]


def fortran_hooks(form):
    names = [name for _, name in form.fortran]
    lengths = [f"length{i}" for i, (how, _) in
               enumerate(argument for argument in form.fortran if argument[0] in ("string", "strings", "string_lists"))]
    error = ["error"] if form.fortran_has_error else []
    body = Body(form, lengths)
    count = len(names) + len(error) + len(lengths)
    lines = [f"auto* const real = spelling.behind<Word({words(count)})>();",
             "if (!real)", f"    return no_such_function({'error' if error else '0'});"]
    passed = names + lengths
    if error:
        lines.append("const FortranError place(error);")
        passed = names + ["place.place()"] + lengths
    lines += body.statements(", ".join(passed), "place.value()" if error else "0")
    # What looks at buffers (for MPI_IN_PLACE) must know how they come.
    differs = any(name in line for line in body.before + body.after for name in ("send_buffer", "recv_buffer"))
    plain, special = ("FortranLarge", "FortranLargeDescriptors") if form.large else ("Fortran", "FortranDescriptors")
    text = "template <class L>\n" if differs else ""
    text += (f"__attribute__((noinline)) {'' if differs else 'static '}Word fortran_{form.name}(Spelling& spelling, "
             f"const Frame& caller{''.join(f', Word {name}' for name in names + error + lengths)}) {{\n")
    text += indented(lines if differs else language_named(plain, lines)) + "}\n\n"
    for symbol, descriptors in fortran_spellings(form):
        language = f"<{special if descriptors else plain}>" if differs else ""
        text += exported(symbol, names + error + lengths)
        text += indented(["const Frame caller = PLUMB_CALLER_FRAME();",
                          f"return fortran_{form.name}{language}(spelling, caller"
                          f"{''.join(f', {name}' for name in names + error + lengths)});"])
        text += "}\n\n"
    return text


HEADER = "// Made by preload/hooks/mpi/generate.py from calls.json.\n"
INCLUDES = HEADER + """#include "functions.h"

#include "hooks/mpi/collectives.h"
#include "hooks/mpi/comm_names.h"
#include "hooks/mpi/completions.h"
#include "hooks/mpi/hook.h"
#include "hooks/mpi/lifecycle.h"
#include "hooks/mpi/messages.h"
#include "hooks/mpi/statuses.h"

namespace trace = plumb::trace;
using namespace plumb::shim;
using namespace plumb::shim::mpi;

"""


def functions_header(forms):
    return (HEADER + "#pragma once\n\n#include \"record/mpi/mpi_call.h\"\n\nnamespace plumb::shim::mpi {\n\nenum {\n"
            + "".join(f"    k{form.name},\n" for form in forms)
            + "    kFunctionCount\n};\nextern const Function kFunctions[kFunctionCount];\n\n} // namespace plumb::shim::mpi\n")


def functions_source(forms):
    def kind(form):
        return " | ".join(f"trace::{KINDS[kind]}" for kind in form.kinds)
    return (HEADER + "#include \"functions.h\"\n\nnamespace plumb::shim::mpi {\n\n"
            "const Function kFunctions[kFunctionCount] = {\n"
            + "".join(f"    {{\"{form.name}\", {kind(form)}}},\n" for form in forms)
            + "};\n\n} // namespace plumb::shim::mpi\n")


def exported_names(forms):
    """All names that the library exports for them."""
    names = []
    for form in forms:
        names += [form.name, *form.also, *(symbol for symbol, _ in fortran_spellings(form))]
    return names


def read_forms(path):
    with open(path, encoding="utf-8") as file:
        return all_forms(json.load(file))


def main():
    calls, directory = sys.argv[1:]
    forms = read_forms(calls)
    small, large = [[form for form in forms if form.large == wanted] for wanted in (False, True)]
    texts = {
        "functions.h": functions_header(forms),
        "functions.cpp": functions_source(forms),
        "hooks_c.cpp": INCLUDES + "".join(c_hook(form, name) for form in small for name in [form.name, *form.also]),
        "hooks_c_large.cpp": INCLUDES + "".join(c_hook(form, name) for form in large for name in [form.name, *form.also]),
        "hooks_fortran.cpp": INCLUDES + "".join(fortran_hooks(form) for form in small),
        "hooks_fortran_large.cpp": INCLUDES + "".join(fortran_hooks(form) for form in large),
        "exports.inc": "".join(f"{name};\n" for name in exported_names(forms)),
    }
    for name, text in texts.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
