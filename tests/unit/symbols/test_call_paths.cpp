#include "model/call_paths.h"

#include <catch2/catch.hpp>
#include <map>

using namespace plumb::model;

namespace {

// Answers from a table; counts how often it is asked.
class TableResolver final : public SourceResolver {
  public:
    std::map<uint64_t, std::vector<SourceFrame>> table;
    int asked = 0;
    uint32_t last_pid = 0;
    std::vector<SourceFrame> resolve(const Module& module, uint64_t address) override {
        ++asked;
        last_pid = module.pid;
        return table.at(address);
    }
    int symbols_asked = 0;
    std::vector<SourceFrame> resolve_symbol(const Module& module, uint64_t address) override {
        ++symbols_asked;
        return resolve(module, address);
    }
};

SourceFrame frame(std::string function, std::string file, uint32_t line, std::string module) {
    SourceFrame result;
    result.function = std::move(function);
    result.file = std::move(file);
    result.line = line;
    result.module = std::move(module);
    return result;
}

Module module_at(Module::Kind kind, std::string path, uint64_t start) {
    Module module;
    module.kind = kind;
    module.path = std::move(path);
    module.start = start;
    module.end = start + 0x1000;
    return module;
}

// A program at 0x1000, a library of the system at 0x2000, libc at 0x3000, a library of the user at 0x4000.
struct Fixture {
    Run run;
    TableResolver resolver;
    Fixture() {
        Process process;
        process.pid = 77;
        process.modules = {module_at(Module::Kind::program, "/usr/bin/app", 0x1000),
                           module_at(Module::Kind::library, "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0", 0x2000),
                           module_at(Module::Kind::library, "/lib/x86_64-linux-gnu/libc.so.6", 0x3000),
                           module_at(Module::Kind::library, "/home/me/lib/libmine.so", 0x4000),
                           module_at(Module::Kind::anonymous, "", 0x5000)};
        process.paths.resize(1);
        run.processes.push_back(process);
    }
    // Adds a path from the outermost address to the leaf; returns the leaf's node.
    uint32_t path(const std::vector<uint64_t>& addresses) {
        std::vector<PathNode>& nodes = run.processes[0].paths;
        uint32_t parent = 0;
        for (size_t i = 0; i < addresses.size(); ++i) {
            PathNode node;
            node.parent = parent;
            node.address = addresses[i];
            node.leaf = i + 1 == addresses.size();
            nodes.push_back(node);
            parent = static_cast<uint32_t>(nodes.size() - 1);
        }
        return parent;
    }
};

} // namespace

TEST_CASE("callers are looked up one byte before their return address, leaves where they are") {
    Fixture f;
    f.resolver.table[0x1100] = {frame("leaf", "a.c", 1, "app")};
    f.resolver.table[0x10ff] = {frame("inner", "a.c", 2, "app"), frame("outer", "a.c", 3, "app")};
    const uint32_t leaf = f.path({0x1100, 0x1100});
    CallPaths paths(f.run, f.resolver);
    const auto stack = paths.stack(0, leaf);
    REQUIRE(stack.size() == 3);
    CHECK(stack[0].function == "leaf");
    CHECK(stack[1].function == "inner");
    CHECK(stack[2].function == "outer");
    paths.stack(0, leaf);
    CHECK(f.resolver.asked == 2); // cached
}

TEST_CASE("what has no module, node or process still gives a frame") {
    Fixture f;
    CallPaths paths(f.run, f.resolver);
    CHECK(paths.frames_of(0, f.path({0x9999})).front().module == "[unknown]");
    CHECK(paths.frames_of(0, 0).size() == 1);
    CHECK(paths.frames_of(0, 12345).size() == 1);
    CHECK(paths.frames_of(5, 1).size() == 1);
    CHECK(paths.user_frame(5, 1).module == "[unknown]");
    CHECK(paths.module_of(5, 1) == nullptr);
    CHECK(f.resolver.asked == 0);
}

TEST_CASE("callers are the user's own code, recursion counts once") {
    Fixture f;
    f.resolver.table[0x10ff] = {frame("main", "a.c", 90, "app")};
    f.resolver.table[0x11ff] = {frame("inner", "a.c", 20, "app"), frame("outer", "a.c", 30, "app")}; // inlined
    f.resolver.table[0x12ff] = {frame("again", "a.c", 40, "app")};
    f.resolver.table[0x20ff] = {frame("sqlite3_step", "", 0, "libsqlite3.so.0")};
    f.resolver.table[0x13ff] = {frame("callback", "a.c", 50, "app")};
    f.resolver.table[0x3100] = {frame("write", "", 0, "libc.so.6")};
    const uint32_t leaf = f.path({0x1100, 0x1200, 0x1300, 0x1300, 0x1300, 0x2100, 0x1400, 0x3100});
    CallPaths paths(f.run, f.resolver);
    CHECK(paths.user_frame(0, leaf).function == "callback");
    const std::vector<SourceFrame> callers = paths.user_callers(0, leaf, 10);
    REQUIRE(callers.size() == 4);
    CHECK(callers[0].function == "again");
    CHECK(callers[1].function == "inner");
    CHECK(callers[2].function == "outer");
    CHECK(callers[3].function == "main");
    CHECK(paths.user_callers(0, leaf, 2).size() == 2);
    CHECK(paths.user_callers(0, 0, 2).empty());
    CHECK(paths.user_callers(5, 1, 2).empty());
}

TEST_CASE("a ring of parents ends") {
    Fixture f;
    f.resolver.table[0x10ff] = {frame("f", "", 0, "app")};
    f.resolver.table[0x1100] = f.resolver.table[0x10ff];
    const uint32_t leaf = f.path({0x1100, 0x1100});
    f.run.processes[0].paths[leaf - 1].parent = leaf;
    CallPaths paths(f.run, f.resolver);
    CHECK(paths.user_frame(0, leaf).function == "f");
    CHECK(paths.user_callers(0, leaf, 10).empty());
}

TEST_CASE("of mappings that shared an address the one that lasted longest is meant") {
    Fixture f;
    Module brief = module_at(Module::Kind::library, "/tmp/brief.so", 0x6000), lasting = brief, wide = brief;
    brief.loaded_ns = 10, brief.unloaded_ns = 20;
    lasting.path = "/tmp/lasting.so", lasting.loaded_ns = 30, lasting.unloaded_ns = 90;
    wide.path = "/tmp/wide.so", wide.loaded_ns = 1, wide.unloaded_ns = 5, wide.start = 0x5800, wide.end = 0x7800;
    f.run.processes[0].modules.resize(4);
    for (const Module& module : {brief, lasting, wide})
        f.run.processes[0].modules.push_back(module);
    CallPaths paths(f.run, f.resolver);
    CHECK(paths.module_of(0, 0x6010)->path == "/tmp/lasting.so");
    CHECK(paths.module_of(0, 0x5810)->path == "/tmp/wide.so");
    CHECK(paths.module_of(0, 0x7000)->path == "/tmp/wide.so");
    CHECK(paths.module_of(0, 0x7800) == nullptr);
    CHECK(paths.module_of(0, 0x1fff)->path == "/usr/bin/app");
    CHECK(paths.module_of(0, 0x2000)->path.ends_with("libsqlite3.so.0"));
}

TEST_CASE("generated code is asked for with its process") {
    Fixture f;
    f.resolver.table[0x5100] = {frame("LazyCompile:~f", "", 0, "[anonymous]")};
    const uint32_t leaf = f.path({0x5100});
    CallPaths paths(f.run, f.resolver);
    CHECK(paths.user_frame(0, leaf).function == "LazyCompile:~f");
    CHECK(f.resolver.last_pid == 77);
}

TEST_CASE("the frame shown to the user") {
    Fixture f;
    f.resolver.table[0x3010] = {frame("malloc", "malloc.c", 3300, "libc.so.6")};
    const auto shown = [&](const std::vector<uint64_t>& addresses) {
        const uint32_t leaf = f.path(addresses);
        CallPaths paths(f.run, f.resolver);
        return paths.user_frame(0, leaf).function;
    };
    SECTION("own line before everything, past libc and headers of the compiler") {
        f.resolver.table[0x10ff] = {frame("std::vector<int>::push_back", "/usr/include/c++/12/bits/stl_vector.h", 9, "app"),
                                    frame("fill", "/src/fill.cpp", 7, "app")};
        f.resolver.table[0x11ff] = {frame("main", "/src/main.cpp", 20, "app")};
        CHECK(shown({0x1200, 0x1100, 0x3010}) == "fill");
    }
    SECTION("of a program without debug info its function, not the standard library's lines around it") {
        f.resolver.table[0x10ff] = {frame("alloc::raw_vec::finish_grow", "/rustc/90b35a6/library/alloc/src/raw_vec.rs", 700, "app")};
        f.resolver.table[0x11ff] = {frame("app::work", "", 0, "app")};
        f.resolver.table[0x12ff] = {frame("std::rt::lang_start_internal", "/rustc/90b35a6/library/std/src/rt.rs", 190, "app")};
        CHECK(shown({0x1300, 0x1200, 0x1100, 0x3010}) == "app::work");
        CHECK(shown({0x1300, 0x1100, 0x3010}) == "alloc::raw_vec::finish_grow");
    }
    SECTION("a library of the user is own code") {
        f.resolver.table[0x40ff] = {frame("mine", "/home/me/mine.c", 7, "libmine.so")};
        f.resolver.table[0x11ff] = {frame("main", "/src/main.cpp", 20, "app")};
        CHECK(shown({0x1200, 0x4100, 0x3010}) == "mine");
    }
    SECTION("an own function without a line comes before a library's line") {
        f.resolver.table[0x20ff] = {frame("sqlite3_step", "sqlite3.c", 90000, "libsqlite3.so.0")};
        f.resolver.table[0x11ff] = {frame("shell_exec+0x40", "", 0, "app")};
        CHECK(shown({0x1200, 0x2100, 0x3010}) == "shell_exec+0x40");
    }
    SECTION("of a stripped program the library's function is more use than an offset, _start is none") {
        f.resolver.table[0x20ff] = {frame("sqlite3_step+0x12", "", 0, "libsqlite3.so.0")};
        f.resolver.table[0x11ff] = {frame("app+0x1ff", "", 0, "app")};
        f.resolver.table[0x12ff] = {frame("_start+0x21", "", 0, "app")};
        CHECK(shown({0x1300, 0x1200, 0x2100, 0x3010}) == "sqlite3_step+0x12");
        f.resolver.table[0x20ff] = {frame("libsqlite3.so.0+0xff", "", 0, "libsqlite3.so.0")};
        CHECK(shown({0x1300, 0x1200, 0x2100, 0x3010}) == "app+0x1ff");
    }
    SECTION("nothing of the user's on the path: the innermost frame") { CHECK(shown({0x3010}) == "malloc"); }
}

TEST_CASE("of the system's code only the function is asked for, everywhere") {
    Fixture f;
    f.resolver.table[0x3010] = {frame("malloc+0x10", "", 0, "libc.so.6")};
    f.resolver.table[0x20ff] = {frame("sqlite3_step", "btree.c", 7, "libsqlite3.so.0")};
    const uint32_t node = f.path({0x2100, 0x3010});
    CallPaths paths(f.run, f.resolver);
    CHECK(paths.frames_of(0, node).front().function == "malloc+0x10");
    CHECK(f.resolver.symbols_asked == 1);
    CHECK(paths.frames_at(0, 0x3010).front().function == "malloc+0x10");
    CHECK(f.resolver.symbols_asked == 2);
    CHECK(paths.user_frame(0, node).line == 7); // a library of the system that programs are made with
    CHECK(f.resolver.symbols_asked == 2);
}

TEST_CASE("the tool chain's libraries are recognised by name") {
    for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/libc-2.31.so", "/lib64/ld-linux-x86-64.so.2",
                             "/opt/gcc/lib64/libstdc++.so.6.0.30", "/home/me/openmpi/lib/libmpi.so.40",
                             "/usr/lib/libgfortran.so.5", "/usr/lib/openmpi/mca_btl_vader.so", "libplumb.so", "/opt/lib/libplumb-strings.so",
                             "/usr/lib/libjemalloc.so.2", "/lib/libnss_files.so.2", "[vdso]"})
        CHECK(is_system_module(path));
    for (const char* path : {"/usr/bin/sqlite3", "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0", "/usr/lib/liblapack.so.3",
                             "/home/me/libcache.so", "/home/me/libc", "/home/me/libmine-2.so", "", "libcc.so"})
        CHECK_FALSE(is_system_module(path));
    CHECK(is_shim_module("/opt/lib/libplumb.so"));
    CHECK(is_shim_module("libplumb-strings.so"));
    CHECK_FALSE(is_shim_module("/opt/lib/libplumbing.so"));
    CHECK_FALSE(is_shim_module("/usr/bin/plumb"));
    CHECK(is_system_source("/usr/include/c++/12/bits/stl_vector.h"));
    CHECK(is_system_source("/opt/gcc-13/include/c++/13/vector"));
    CHECK(is_system_source("/rustc/90b35a6/library/core/src/iter/range.rs"));
    CHECK_FALSE(is_system_source("/home/me/include/solver.h"));
}

TEST_CASE("libraries of OpenMP are known by name, copies inside packages too") {
    for (const char* path : {"/usr/lib/x86_64-linux-gnu/libgomp.so.1", "/opt/llvm/lib/libomp.so.5", "/opt/intel/libiomp5.so",
                             "/home/u/site-packages/numpy.libs/libgomp-a34b3233.so.1.0.0"}) {
        CHECK(is_openmp_module(path));
        CHECK(is_system_module(path));
    }
    for (const char* path : {"/opt/llvm/lib/libompd.so", "/usr/lib/libgompx.so", "/home/u/libgomp", "/usr/lib/libgomp", "/lib/libc.so.6"})
        CHECK_FALSE(is_openmp_module(path));
}
