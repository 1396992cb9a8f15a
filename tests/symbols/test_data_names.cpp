// Names of data against programs built in many ways: where things lie is asked of nm and objdump, what they are called
// is known from the sources.
#include "elf_program.h"
#include "symbols/resolver.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using plumb::model::DataAccess;
using plumb::model::DataName;
using plumb_test::MappedProgram;
using plumb_test::output_of;

namespace {

constexpr uint64_t kRecordBytes = 1 + 8 + 16; // the structure inside is not packed itself: 2 + 2 of padding + 12

std::string program(const std::string& name) {
    const char* folder = std::getenv("PLUMB_DATA_PROGRAMS");
    REQUIRE(folder != nullptr);
    return std::string(folder) + "/" + name;
}

bool have(const std::string& name) {
    const bool found = std::filesystem::exists(program(name));
    if (!found)
        WARN("not built here: " << name);
    return found;
}

plumb::symbols::Options plain() {
    plumb::symbols::Options options;
    options.debuginfod = false;
    options.debug_directories = {};
    return options;
}

struct Subject {
    explicit Subject(const std::string& name, const std::string& symbols_of = {})
        : mapped(program(name)), resolver(make_resolver(plain())) {
        std::istringstream lines(output_of("nm '" + program(symbols_of.empty() ? name : symbols_of) + "'"));
        std::string address, type, symbol;
        for (std::string line; std::getline(lines, line);)
            if (std::istringstream words(line); words >> address >> type >> symbol && type.size() == 1)
                symbols[symbol] = std::stoull(address, nullptr, 16);
    }
    uint64_t address_of(const std::string& symbol) const {
        for (const auto& [name, address] : symbols)
            if (name == symbol || name.starts_with(symbol + "."))
                return mapped.runtime_address(address);
        FAIL("no symbol " << symbol);
        return 0;
    }
    DataName at(const std::string& symbol, uint64_t offset, uint32_t width, uint64_t instruction = 0) {
        INFO(mapped.path << ": " << symbol << " + " << offset);
        const auto name = resolver->name_static(mapped.module, address_of(symbol) + offset, width, instruction);
        REQUIRE(name.has_value());
        return *name;
    }
    // The first instruction of `function` whose text matches.
    uint64_t instruction(const std::string& function, const std::string& pattern) const {
        std::istringstream lines(output_of("objdump -d --no-show-raw-insn --disassemble=" + function + " '" +
                                           mapped.path + "'"));
        for (std::string line; std::getline(lines, line);)
            if (std::regex_search(line, std::regex(pattern)))
                return mapped.runtime_address(std::stoull(line, nullptr, 16));
        FAIL("no " << pattern << " in " << function);
        return 0;
    }
    std::vector<uint8_t> code_at(uint64_t address) const {
        std::ifstream file(mapped.path, std::ios::binary);
        file.seekg(static_cast<std::streamoff>(address - mapped.module.start + mapped.module.file_offset));
        std::vector<uint8_t> code(15);
        file.read(reinterpret_cast<char*>(code.data()), 15);
        return code;
    }

    MappedProgram mapped;
    std::unique_ptr<plumb::model::SourceResolver> resolver;
    std::map<std::string, uint64_t> symbols;
};

const char* const kDebugFlavours[] = {"records_gcc_O0",     "records_gcc_O2",   "records_gcc_4",   "records_gcc_split",
                                      "records_compressed", "records_clang_O0", "records_clang_4"};

void check_statics(Subject& subject) {
    const DataName record = subject.at("_ZN4grid7recordsE", 3 * kRecordBytes + 1, 8);
    CHECK(record.kind == DataName::Kind::variable);
    CHECK(record.expression == "grid::records[3].weight");
    CHECK(record.member == "[3].weight");
    CHECK(record.holder == "struct Record");
    CHECK(record.member_offset == 1);
    CHECK(record.member_alignment == 8);
    CHECK(record.packed);
    CHECK(record.file.ends_with("/records.cpp"));
}

} // namespace

TEST_CASE("statics are named with their members in every form of debug info") {
    for (const char* flavour : kDebugFlavours) {
        if (!have(flavour))
            continue;
        Subject subject(flavour);
        INFO(flavour);
        check_statics(subject);
        CHECK(subject.at("_ZN4grid7recordsE", 2 * kRecordBytes + 17, 4).expression == "grid::records[2].in.shape[1]");
        const DataName clean = subject.at("_ZN4gridL6cleansE", 16 + 8, 8);
        CHECK(clean.expression == "grid::cleans[1].weight");
        CHECK_FALSE(clean.packed);
        CHECK(subject.at("_ZN4grid12_GLOBAL__N_16hiddenE", 8 * 7, 8).expression ==
              "grid::(anonymous namespace)::hidden[1][2]");
        const DataName seeds = subject.at("_ZZ9next_seedE5seeds", std::string_view(flavour) == "records_clang_4" ? 0 : 16, 8);
        CHECK(seeds.name == "next_seed()::seeds");
        if (!seeds.type.empty()) // clang's optimiser leaves one element of it, under the symbol's name alone
            CHECK(seeds.member == "[2]");
        else
            CHECK(std::string_view(flavour) == "records_clang_4");
        // The member of the union that is as wide as the access.
        CHECK(subject.at("either", 8, 8).member == "number");
        CHECK(subject.at("either", 8, 4).member == "low");
        CHECK(subject.at("either", 12, 4).member == "high");
        CHECK_FALSE(subject.resolver->name_static(subject.mapped.module, subject.mapped.module.start, 8, 0));
    }
}

TEST_CASE("a separate debug file names statics, symbols alone name variables, nothing leaves section and offset") {
    Subject linked("records_linked", "records_gcc_O2"), bare("records_bare", "records_gcc_O2");
    check_statics(linked);
    Subject symbols("records_symbols");
    const DataName record = symbols.at("_ZN4grid7recordsE", kRecordBytes + 1, 8);
    CHECK(record.name == "grid::records");
    CHECK(record.size == 8 * kRecordBytes);
    CHECK(record.offset == kRecordBytes + 1);
    CHECK(symbols.at("_ZZ9next_seedE5seeds", 8, 8).name == "next_seed()::seeds");
    CHECK(bare.at("_ZN4grid7recordsE", 1, 8).name.starts_with(".bss+0x"));
}

TEST_CASE("Fortran: common blocks as the accessing unit sees them, modules, equivalences, sequence types") {
    for (const char* flavour : {"commons_O0", "commons_O2"}) {
        if (!have(flavour))
            continue;
        Subject subject(flavour);
        INFO(flavour);
        const uint64_t here = subject.address_of("MAIN__");
        const DataName r2 = subject.at("pair_", 4 + 16 * 4, 8, here);
        CHECK(r2.kind == DataName::Kind::common_block);
        CHECK(r2.name == "/pair/");
        CHECK(r2.member == "r2(17)");
        CHECK(r2.member_offset == 4);
        CHECK(r2.member_alignment == 4);
        CHECK_FALSE(r2.packed);
        CHECK(subject.at("__BLNK__", 8 * 4, 8).expression == "// b(2,2)");
        CHECK(subject.at("__constants_MOD_table", 8 * 3, 8).expression == "constants::table(3)");
        CHECK(subject.at("points", 16 + 8, 8).member == "(2)%w");
    }
    if (have("commons_O0")) {
        Subject subject("commons_O0");
        const uint64_t here = subject.address_of("MAIN__"), there = subject.address_of("other_view_");
        // Optimising, gfortran writes down one view of a block only.
        CHECK(subject.at("pair_", 12, 4, there).member == "tail(1)");
        CHECK(subject.at("pair_", 4, 4, there).member == "head(2)");
        CHECK(subject.at("equiv.0", 16, 8, here).name.ends_with("::whole"));
        CHECK(subject.at("equiv.0", 4, 4, here).name.ends_with("::half"));
    }
    if (have("commons_symbols"))
        CHECK(Subject("commons_symbols").at("pair_", 8, 8).name == "/pair/");
}

TEST_CASE("what a pointer or a dummy argument points to, by the code's own variables") {
    for (const char* flavour : kDebugFlavours) {
        if (!have(flavour))
            continue;
        Subject subject(flavour);
        INFO(flavour);
        DataAccess access;
        access.width = 8;
        access.base_value = 0x10000;
        access.address = 0x10001;
        access.instruction = subject.instruction("weight_of", "0x1\\(%r[a-z0-9]+\\)");
        access.code = subject.code_at(access.instruction);
        const auto name = subject.resolver->name_by_type(subject.mapped.module, access);
        REQUIRE(name.has_value());
        CHECK(name->kind == DataName::Kind::pointed_structure);
        CHECK(name->name == "struct Record");
        CHECK(name->expression == "record->weight");
        CHECK(name->packed);
    }
    if (!have("commons_O0"))
        return;
    Subject subject("commons_O0");
    DataAccess access;
    access.width = 8;
    access.base_value = 0x10004;
    access.address = 0x10004 + 16;
    access.instruction = subject.instruction("scale_", "\\(%r[a-z0-9]+,%r[a-z0-9]+,8\\)");
    access.code = subject.code_at(access.instruction);
    const auto name = subject.resolver->name_by_type(subject.mapped.module, access);
    REQUIRE(name.has_value());
    CHECK(name->expression == "x(3)");
    CHECK(name->type == "real(kind=8)(*)");
}

TEST_CASE("every byte of a local array is found in its frame, and no other") {
    for (const char* flavour : {"records_gcc_O0", "records_clang_O0", "records_gcc_split"}) {
        if (!have(flavour))
            continue;
        Subject subject(flavour);
        INFO(flavour);
        DataAccess access;
        access.frame_address = 0x7fff0000;
        access.width = 1;
        access.instruction = subject.instruction("use_locals", "ret") - 1; // behind the prologue
        uint64_t bytes = 0, first = 0;
        for (uint64_t distance = 512; distance > 0; --distance) {
            access.address = access.frame_address - distance;
            const auto name = subject.resolver->name_local(subject.mapped.module, access);
            if (!name || name->name != "own")
                continue;
            first = bytes++ == 0 ? access.address : first;
            REQUIRE(access.address - first == name->offset);
            REQUIRE(name->member.starts_with("[" + std::to_string(name->offset / kRecordBytes) + "]"));
        }
        CHECK(bytes == 4 * kRecordBytes);
    }
}
