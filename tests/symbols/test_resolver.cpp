// The resolver against programs built in many ways. The truth is addr2line's where it has one, else the answer for
// the same code with debug info in its plainest form.
#include "elf_program.h"
#include "symbols/elf/debuginfod.h"
#include "symbols/elf/names.h"
#include "symbols/resolver.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <sys/auxv.h>
#include <ctime>
#include <unistd.h>

using plumb::model::Module;
using plumb::model::SourceFrame;
using plumb::symbols::make_resolver;
using plumb::symbols::Options;
using plumb_test::ask_addr2line;
using plumb_test::MappedProgram;
using plumb_test::TruthFrame;

namespace {

std::string flavour(const std::string& name) {
    const char* folder = std::getenv("PLUMB_SYMBOL_PROGRAMS");
    REQUIRE(folder != nullptr);
    return std::string(folder) + "/" + name;
}

// False, and said, where the compiler or tool that makes the flavour is not installed.
bool have(const std::string& name) {
    const bool found = std::filesystem::exists(flavour(name));
    if (!found)
        WARN("not built here: " << name);
    return found;
}

Options plain() {
    Options options;
    options.debuginfod = false;
    options.debug_directories = {};
    return options;
}

// addr2line of binutils 2.40 confuses the first two files of DWARF 5 line tables: lines beyond the end of the file.
bool cannot_be(const TruthFrame& frame) {
    static const uint32_t kLines = [] {
        std::ifstream file(flavour("shapes.cpp"));
        uint32_t lines = 0;
        for (std::string line; std::getline(file, line);)
            ++lines;
        return lines;
    }();
    return frame.file.ends_with("/shapes.cpp") && frame.line > kLines;
}

bool is_padding_or_start_up(const std::vector<TruthFrame>& truth) {
    for (const TruthFrame& frame : truth)
        if (frame.line != 0)
            return false;
    return true;
}

// Template arguments and closures are spelt in two ways, by the demangler and by the compiler in DW_AT_name.
std::string without_arguments(const std::string& name) {
    std::string kept;
    int depth = 0;
    for (size_t i = 0; i < name.size(); ++i) {
        const bool is_operator = kept.ends_with("operator") || kept.ends_with("operator<");
        if (name[i] == '<' && !is_operator)
            ++depth;
        else if (name[i] == '>' && depth > 0)
            --depth;
        else if (depth == 0)
            kept += name[i];
    }
    static const std::regex closure("\\{lambda\\([^}]*\\}");
    return std::regex_replace(kept, closure, "{lambda}");
}

// addr2line leaves scopes off names that have no linkage name.
bool same_name(const std::string& ours, const std::string& theirs) {
    if (ours == theirs)
        return true;
    const std::string mine = without_arguments(ours);
    const std::string plain_name = without_arguments(plumb::symbols::without_signature(theirs));
    return mine == plain_name || mine.ends_with("::" + plain_name) || ours.ends_with("::" + theirs);
}

void compare_with_addr2line(const std::string& name) {
    const MappedProgram program(flavour(name));
    const auto resolver = make_resolver(plain());
    size_t compared = 0, inlined = 0, between = 0;
    for (const auto& [address, truth] : ask_addr2line(program.path, program.text_begin, program.text_end)) {
        if (is_padding_or_start_up(truth))
            continue;
        const auto frames = resolver->resolve(program.module, program.runtime_address(address));
        INFO(name << " at 0x" << std::hex << address);
        if (frames.back().function.starts_with(name + "+0x")) {
            ++between; // padding behind a function, which addr2line counts as part of it
            continue;
        }
        REQUIRE(frames.size() == truth.size());
        for (size_t i = 0; i < frames.size(); ++i) {
            INFO("ours " << frames[i].function << ", theirs " << truth[i].function);
            if (!cannot_be(truth[i]))
                REQUIRE(frames[i].file == truth[i].file);
            REQUIRE(frames[i].line == truth[i].line);
            REQUIRE(frames[i].inlined == (i + 1 < frames.size()));
            REQUIRE(frames[i].module == name);
            // At a function's first byte addr2line gives the linker's symbol for the innermost frame, whatever
            // was inlined there.
            if (i > 0 || frames.size() == 1 || !same_name(frames.back().function, truth[0].function))
                REQUIRE(same_name(frames[i].function, truth[i].function));
        }
        ++compared;
        inlined += frames.size() > 1;
    }
    CHECK(compared > 1000);
    CHECK(between < compared / 20);
    if (name != "gcc_O0")
        CHECK(inlined > 1000);
    CHECK(resolver->notes().empty());
}

// All frames of all of .text.
std::vector<std::vector<SourceFrame>> all_frames(const std::string& name, const Options& options) {
    const MappedProgram program(flavour(name));
    const auto resolver = make_resolver(options);
    std::vector<std::vector<SourceFrame>> all;
    for (uint64_t address = program.text_begin; address < program.text_end; ++address)
        all.push_back(resolver->resolve(program.module, program.runtime_address(address)));
    return all;
}

void compare_with_flavour(const std::string& name, const std::string& plainest, const Options& options = plain()) {
    const auto ours = all_frames(name, options), truth = all_frames(plainest, plain());
    REQUIRE(ours.size() == truth.size());
    for (size_t i = 0; i < ours.size(); ++i) {
        INFO(name << ", byte " << i << " of .text");
        REQUIRE(ours[i].size() == truth[i].size());
        for (size_t level = 0; level < ours[i].size(); ++level) {
            REQUIRE(ours[i][level].module == name);
            REQUIRE(ours[i][level].file == truth[i][level].file);
            REQUIRE(ours[i][level].line == truth[i][level].line);
            if (!truth[i][level].function.starts_with(plainest + "+0x"))
                REQUIRE(ours[i][level].function == truth[i][level].function);
        }
    }
}

std::set<std::string> functions_in(const std::string& name, const Options& options = plain()) {
    std::set<std::string> names;
    for (const auto& frames : all_frames(name, options))
        for (const SourceFrame& frame : frames)
            names.insert(frame.function.substr(0, frame.function.find("+0x")));
    return names;
}

// Address of a symbol, by nm.
uint64_t address_of(const std::string& path, const std::string& symbol) {
    return std::stoull(plumb_test::output_of("nm '" + path + "' | sed -n 's/ [A-Za-z] " + symbol + "$//p'"), nullptr, 16);
}

} // namespace

TEST_CASE("frames are those of addr2line, inlined ones included, at every address") {
    compare_with_addr2line("gcc");
    compare_with_addr2line("gcc_O0");
    compare_with_addr2line("no_pie");
    compare_with_addr2line("libshapes.so");
    if (have("clang_4"))
        compare_with_addr2line("clang_4");
}

TEST_CASE("debug info in other forms gives the same frames") {
    compare_with_flavour("gcc_compressed", "gcc");
    compare_with_flavour("gcc_split4", "gcc");
    compare_with_flavour("gcc_split5", "gcc");
    if (have("clang_5"))
        compare_with_flavour("clang_5", "clang_4");
    if (have("dwz_one"))
        compare_with_flavour("dwz_one", "gcc");
}

TEST_CASE("separate debug files are found by link and by build id") {
    compare_with_flavour("linked", "gcc");
    compare_with_flavour("linked_hidden", "gcc");
    compare_with_flavour("linked_no_id", "no_id");
    Options by_id = plain();
    by_id.debug_directories = {flavour("debug")};
    compare_with_flavour("bare", "gcc", by_id);
}

TEST_CASE("debug files come from a debuginfod server when one is configured, and only then") {
    setenv("DEBUGINFOD_CACHE_PATH", flavour("debuginfod_cache").c_str(), 1);
    std::filesystem::remove_all(flavour("debuginfod_cache"));
    Options options = plain();
    options.debuginfod = true;
    const MappedProgram program(flavour("bare"));
    const uint64_t address = program.runtime_address(address_of(flavour("gcc"), "c_linkage"));
    const auto line = [&] { return make_resolver(options)->resolve(program.module, address).back().line; };
    unsetenv("DEBUGINFOD_URLS");
    CHECK(line() == 0);
    setenv("DEBUGINFOD_URLS", ("file://" + flavour("server")).c_str(), 1);
    if (plumb::symbols::debuginfod_configured())
        CHECK(line() != 0);
    else
        WARN("built without debuginfod");
    options.debuginfod = false;
    CHECK(line() == 0);
    unsetenv("DEBUGINFOD_URLS");
}

TEST_CASE("a debug file of another build is not used") {
    const std::string folder = flavour("wrong_debug");
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(flavour("linked"), folder + "/linked",
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::copy_file(flavour("gcc_O0"), folder + "/linked.debug",
                               std::filesystem::copy_options::overwrite_existing);
    const MappedProgram program(folder + "/linked");
    const auto frames = make_resolver(plain())->resolve(
        program.module, program.runtime_address(address_of(flavour("gcc"), "c_linkage")));
    CHECK(frames.front().line == 0);
    CHECK(frames.front().function.starts_with("linked+0x"));
}

TEST_CASE("stripped programs give function and offset, or file and offset") {
    const uint64_t inside = address_of(flavour("gcc"), "c_linkage") + 4;
    const auto resolve = [&](const std::string& name, uint64_t address) {
        const MappedProgram program(flavour(name));
        auto frames = make_resolver(plain())->resolve(program.module, program.runtime_address(address));
        REQUIRE(frames.size() == 1);
        CHECK(frames[0].line == 0);
        CHECK(frames[0].file.empty());
        return frames[0].function;
    };
    CHECK(resolve("symbols_only", inside) == "c_linkage+0x4");
    std::ostringstream bare; // the nameless function's begin, by its unwind table
    bare << "bare+0x" << std::hex << inside - 4;
    CHECK(resolve("bare", inside) == bare.str());
    if (have("mini_debug_info"))
        CHECK(resolve("mini_debug_info", inside) == "c_linkage+0x4");

    const std::set<std::string> whole = functions_in("symbols_only");
    CHECK(whole.contains("grid::Field<double>::relax"));
    const std::set<std::string> exported = functions_in("libdynamic_only.so");
    CHECK(exported.contains("entry"));
    CHECK(exported.contains("grid::Field<double>::relax"));
    // A local function lies between exported ones; none of them may claim it.
    const uint64_t local = address_of(flavour("libshapes.so"), "_ZL8plus_onei");
    CHECK(resolve("libdynamic_only.so", local).starts_with("libdynamic_only.so+0x"));
}

TEST_CASE("by symbols alone there is the function and nothing else, with and without debug info") {
    const uint64_t start = address_of(flavour("gcc"), "c_linkage");
    for (const char* name : {"gcc", "gcc_compressed", "symbols_only"}) {
        const MappedProgram program(flavour(name));
        const auto resolver = make_resolver(plain());
        const uint64_t inside = program.runtime_address(start + 4);
        const auto symbol = resolver->resolve_symbol(program.module, inside);
        REQUIRE(symbol.size() == 1);
        CHECK(symbol[0].function == "c_linkage+0x4");
        CHECK(symbol[0].line == 0);
        CHECK(symbol[0].module == name);
        // Neither answer stands for the other.
        CHECK((resolver->resolve(program.module, inside).back().line != 0) == (std::string(name) != "symbols_only"));
        CHECK(resolver->resolve_symbol(program.module, inside)[0].line == 0);
    }
    const MappedProgram bare(flavour("bare"));
    CHECK(make_resolver(plain())->resolve_symbol(bare.module, bare.runtime_address(start + 4))[0].function.starts_with("bare+0x"));
}

TEST_CASE("nameless functions begin where the symbols of the unstripped program say") {
    const MappedProgram program(flavour("bare"));
    const auto resolver = make_resolver(plain());
    std::istringstream symbols(plumb_test::output_of("nm -S '" + flavour("gcc") + "' | sed -n 's/ [tTwW] .*//p'"));
    size_t functions = 0, addresses = 0;
    for (std::string line; std::getline(symbols, line);) {
        unsigned long begin = 0, bytes = 0;
        if (std::sscanf(line.c_str(), "%lx %lx", &begin, &bytes) != 2 || begin < program.text_begin || begin + bytes > program.text_end)
            continue;
        ++functions;
        for (unsigned long address = begin; address < begin + bytes; ++address, ++addresses) {
            std::ostringstream expected;
            expected << "bare+0x" << std::hex << begin;
            const auto frames = resolver->resolve(program.module, program.runtime_address(address));
            REQUIRE(frames[0].function == expected.str());
        }
    }
    CHECK(functions > 10);
    CHECK(addresses > 1000);
}

TEST_CASE("calls that leave the file are named after what they call") {
    for (const char* name : {"gcc", "bare", "static"}) {
        const MappedProgram program(flavour(name));
        const auto resolver = make_resolver(plain());
        std::istringstream stubs(plumb_test::output_of("objdump -d --no-show-raw-insn '" + program.path +
                                                       "' | sed -n 's/^\\([0-9a-f]*\\) <\\([a-z]*@plt\\)>:/\\1 \\2/p'"));
        size_t seen = 0;
        for (std::string address, stub; stubs >> address >> stub; ++seen) {
            const auto frames = resolver->resolve(
                program.module, program.runtime_address(std::stoull(address, nullptr, 16)));
            CHECK(frames.front().function == stub);
        }
        if (std::string(name) != "static") // there all stubs are *ABS*+0x...@plt to objdump
            CHECK(seen >= 2);
    }
    std::set<std::string> stubs;
    const MappedProgram program(flavour("static"));
    const auto resolver = make_resolver(plain());
    for (uint64_t address = program.module.start; address < program.runtime_address(program.text_begin); address += 8)
        stubs.insert(resolver->resolve(program.module, address).front().function);
    CHECK((stubs.contains("memcpy@plt") || stubs.contains("__memcpy@plt")));
}

TEST_CASE("Fortran names are those of the source") {
    if (!have("fortran"))
        return;
    const std::set<std::string> names = functions_in("fortran");
    for (const char* name : {"heat::relax", "heat::relax::weight", "outside", "furnace", "furnace::inner",
                             "furnace [omp region 0]"})
        CHECK(names.contains(name));
    CHECK_FALSE(names.contains("MAIN__"));
    const std::set<std::string> symbols = functions_in("fortran_symbols_only");
    for (const char* name : {"heat::relax", "weight", "outside"})
        CHECK(symbols.contains(name));
}

TEST_CASE("files that are gone or others than in the run are told apart and said") {
    MappedProgram program(flavour("gcc"));
    const uint64_t address = program.runtime_address(address_of(program.path, "c_linkage"));
    SECTION("replaced") {
        program.module.build_id.front() = program.module.build_id.front() == 'a' ? 'b' : 'a';
        const auto resolver = make_resolver(plain());
        CHECK(resolver->resolve(program.module, address).front().function.starts_with("gcc+0x"));
        resolver->resolve(program.module, address + 1);
        REQUIRE(resolver->notes().size() == 1);
        CHECK(resolver->notes()[0].find("changed since the run") != std::string::npos);
    }
    SECTION("missing") {
        program.module.path += ".gone";
        const auto resolver = make_resolver(plain());
        const SourceFrame frame = resolver->resolve(program.module, address).front();
        CHECK(frame.module == "gcc.gone");
        CHECK(frame.function.starts_with("gcc.gone+0x"));
        REQUIRE(resolver->notes().size() == 1);
        CHECK(resolver->notes()[0].find("cannot be read here") != std::string::npos);
    }
    SECTION("missing, but its debug file is here") {
        program.module.path = "/no/such/place/gcc";
        Options by_id = plain();
        by_id.debug_directories = {flavour("debug")};
        const auto resolver = make_resolver(by_id);
        const auto frames = resolver->resolve(program.module, address);
        CHECK(frames.back().function == "c_linkage");
        CHECK(frames.back().line != 0);
        CHECK(resolver->notes().size() == 1);
    }
    SECTION("below a sysroot, with sources elsewhere") {
        Options moved = plain();
        moved.sysroot = std::filesystem::path(flavour("")).parent_path().string();
        moved.source_maps = {plumb::symbols::parse_source_map(moved.sysroot + "=/home/me/src")};
        program.module.path = "/gcc";
        const auto frames = make_resolver(moved)->resolve(program.module, address);
        CHECK(frames.back().function == "c_linkage");
        CHECK(frames.back().file == "/home/me/src/shapes.cpp");
    }
    SECTION("not an ELF file, a folder, an empty path") {
        for (const std::string& path : {flavour("shapes.cpp"), flavour(""), std::string()}) {
            program.module.path = path;
            program.module.build_id.clear();
            CHECK_FALSE(make_resolver(plain())->resolve(program.module, address).empty());
        }
    }
    SECTION("split debug info without its .dwo file") {
        const std::string hidden = flavour("split5/s5.dwo.away");
        const std::string split = std::filesystem::exists(flavour("split5/s5.dwo")) ? flavour("split5/s5.dwo")
                                                                                   : flavour("split5/gcc_split5-s5.dwo");
        std::filesystem::rename(split, hidden);
        const MappedProgram skeleton(flavour("gcc_split5"));
        const auto resolver = make_resolver(plain());
        const auto frames = resolver->resolve(skeleton.module, skeleton.runtime_address(address_of(skeleton.path, "c_linkage")));
        std::filesystem::rename(hidden, split);
        CHECK(frames.front().function == "c_linkage");
        CHECK(frames.front().line != 0);
        REQUIRE(resolver->notes().size() == 1);
        CHECK(resolver->notes()[0].find(".dwo") != std::string::npos);
    }
}

TEST_CASE("a damaged file gives some answer") {
    const std::string broken = flavour("broken");
    std::string data;
    {
        std::ifstream file(flavour("gcc"), std::ios::binary);
        data.assign(std::istreambuf_iterator<char>(file), {});
    }
    const MappedProgram program(flavour("gcc"));
    unsigned state = 12345;
    for (int round = 0; round < 40; ++round) {
        std::string damaged = data;
        for (int hit = 0; hit < 50; ++hit) {
            state = state * 1103515245 + 12345;
            damaged[4096 + (state >> 8) % (damaged.size() - 4096)] = static_cast<char>(state >> 16);
        }
        if (round % 4 == 0)
            damaged.resize(damaged.size() * static_cast<size_t>(round + 1) / 45);
        std::ofstream(broken, std::ios::binary) << damaged;
        Module module = program.module;
        module.path = broken;
        const auto resolver = make_resolver(plain());
        for (uint64_t address = program.text_begin; address < program.text_end; address += 61)
            CHECK_FALSE(resolver->resolve(module, program.runtime_address(address)).empty());
    }
}

TEST_CASE("frames survive between reports until a file changes") {
    const std::string cache = flavour("symbols.cache"), copy = flavour("cached");
    std::filesystem::remove(cache);
    std::filesystem::copy_file(flavour("gcc"), copy, std::filesystem::copy_options::overwrite_existing);
    Options options = plain();
    options.cache_file = cache;
    const MappedProgram program(copy);
    const uint64_t address = program.runtime_address(address_of(copy, "entry"));
    const auto ask = [&] { return make_resolver(options)->resolve(program.module, address); };
    const auto first = ask();
    REQUIRE(std::filesystem::exists(cache));
    const auto size = std::filesystem::file_size(cache);
    // The cache is what answers: another text in it comes out.
    std::string data;
    {
        std::ifstream file(cache, std::ios::binary);
        data.assign(std::istreambuf_iterator<char>(file), {});
    }
    REQUIRE(data.find("shapes.cpp") != std::string::npos);
    std::string marked = data;
    marked.replace(marked.find("shapes.cpp"), 10, "SHAPES.CPP");
    std::ofstream(cache, std::ios::binary) << marked;
    CHECK(ask().back().file.ends_with("SHAPES.CPP"));
    CHECK(ask().back().function == first.back().function);
    // A touched file is another file.
    std::filesystem::last_write_time(copy, std::filesystem::last_write_time(copy) + std::chrono::seconds(5));
    CHECK(ask().back().file.ends_with("shapes.cpp"));
    CHECK(std::filesystem::file_size(cache) == size);
    // Damage counts as empty, wherever it is.
    for (size_t length = 0; length < data.size(); length += 7) {
        std::ofstream(cache, std::ios::binary) << data.substr(0, length);
        CHECK(ask().back().function == first.back().function);
    }
}

TEST_CASE("code of this process: a library opened at run time, the vDSO, generated code, the kernel") {
    Options options = plain();
    options.root = flavour("root");
    options.same_boot = true;
    std::filesystem::create_directories(options.root + "/proc");
    std::filesystem::create_directories(options.root + "/tmp");
    std::ofstream(options.root + "/proc/kallsyms") << "ffffffff81000000 T _text\nffffffff81000100 t do_syscall_64\n"
                                                     "ffffffffc0000000 t xfs_read\t[xfs]\n";
    std::ofstream(options.root + "/tmp/perf-4711.map") << "7f0000001000 100 LazyCompile:~mul app.js:3\n";
    const auto resolver = make_resolver(options);

    void* library = dlopen(flavour("libshapes.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    const auto entry = reinterpret_cast<uint64_t>(dlsym(library, "entry"));
    std::ifstream maps("/proc/self/maps");
    bool found_library = false, found_vdso = false;
    for (std::string line; std::getline(maps, line);) {
        Module module;
        char access[8] = {}, path[4096] = {};
        unsigned long start = 0, end = 0, offset = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx %*s %*s %4095[^\n]", &start, &end, access, &offset, path) < 5)
            continue;
        module.start = start;
        module.end = end;
        module.file_offset = offset;
        module.path = path;
        if (entry >= start && entry < end) {
            const auto frames = resolver->resolve(module, entry);
            CHECK(frames.back().function == "entry");
            CHECK(frames.back().line != 0);
            CHECK(frames.back().module == "libshapes.so");
            found_library = true;
        }
        if (module.path == "[vdso]") {
            module.kind = Module::Kind::vdso;
            CHECK(resolver->resolve(module, start + 16).front().module == "[vdso]");
            found_vdso = true;
        }
    }
    dlclose(library);
    CHECK(found_library);
    CHECK(found_vdso);

    Module generated;
    generated.kind = Module::Kind::anonymous;
    generated.start = 0x7f0000000000;
    generated.end = 0x7f0000010000;
    generated.pid = 4711;
    CHECK(resolver->resolve(generated, 0x7f0000001004).front().function == "LazyCompile:~mul app.js:3");
    CHECK(resolver->resolve(generated, 0x7f0000002004).front().function == "[anonymous]+0x2004");

    Module kernel;
    kernel.kind = Module::Kind::kernel;
    CHECK(resolver->resolve(kernel, 0xffffffff81000110).front().function == "do_syscall_64");
    CHECK(resolver->resolve(kernel, 0xffffffffc0000110).front().function == "xfs_read");
    CHECK(resolver->resolve(kernel, 0x10).front().module == "[kernel]");
    options.same_boot = false;
    CHECK(make_resolver(options)->resolve(kernel, 0xffffffff81000110).front().function.empty());
}

TEST_CASE("the code of a function, by debug info, symbol or the table for exceptions") {
    std::istringstream truth(plumb_test::output_of("nm -S '" + flavour("gcc") + "' | awk '$4 == \"main\" {print $1, $2}'"));
    uint64_t begin = 0, bytes = 0;
    truth >> std::hex >> begin >> bytes;
    REQUIRE(bytes > 0);
    for (const char* name : {"gcc", "symbols_only", "bare"}) {
        INFO(name);
        const MappedProgram program(flavour(name));
        const auto resolver = make_resolver(plain());
        const auto code = resolver->function_code(program.module, program.runtime_address(begin + bytes / 2));
        REQUIRE(code);
        CHECK(code->start == program.runtime_address(begin));
        CHECK(code->bytes.size() == bytes);
        CHECK(code->producer.starts_with("GNU C++") == (name == std::string("gcc")));
        CHECK((code->producer.find(" -O2") != std::string::npos) == (name == std::string("gcc")));
        CHECK_FALSE(resolver->function_code(program.module, program.runtime_address(program.text_end + 4096)));
    }
}
