#include "commands/align_options.h"

#include "platform/elf_image.h"
#include "platform/linked_libraries.h"
#include "record/run/executable.h"
#include "support/error.h"
#include "symbols/dwarf/code_of_sources.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <set>

namespace plumb {

namespace {

const char* const kDefaultMode = "find";
constexpr long kMostRanges = 4096; // what the shim has room for (record/align/code/fatal_ranges.cpp)
constexpr size_t kMostRangesBytes = 1u << 20;

// The executables that the command is about to start as far as its words tell, launchers and what they are to launch,
// each with the libraries that it is linked with. Paths as the kernel will show them in the maps of the process.
std::set<std::string> images_of(const std::vector<std::string>& command) {
    std::set<std::string> images;
    const auto add = [&](const std::string& path) {
        std::error_code error;
        const std::filesystem::path real = std::filesystem::canonical(path, error);
        return !error && images.insert(real.string()).second;
    };
    for (const std::string& word : command) {
        const std::string image = record::find_executable(word).image;
        if (image.empty() || !platform::read_elf_image(image) || !add(image))
            continue;
        for (const std::string& library : platform::linked_libraries(image))
            add(library);
    }
    return images;
}

std::string ranges_of(const std::vector<std::string>& command, const std::vector<std::string>& globs) {
    const std::set<std::string> images = images_of(command);
    std::string text, looked_at;
    for (const std::string& image : images) {
        for (const auto& [begin, end] : symbols::code_of_sources(image, globs))
            text += fmt::format("{}\t{:x}-{:x}\n", image, begin, end - 1);
        looked_at += (looked_at.empty() ? "" : ", ") + std::filesystem::path(image).filename().string();
    }
    const auto lines = std::ranges::count(text, '\n');
    if (lines > kMostRanges || text.size() > kMostRangesBytes)
        throw Error(fmt::format("--only-file {}: the code of these files is in {} separate pieces, and plumb can watch {}; "
                                "name fewer files", globs.front(), lines, kMostRanges));
    if (text.empty())
        throw Error(fmt::format("--only-file {}: the line tables of {} name no such source file; compile it with -g, and quote "
                                "the pattern from the shell",
                                globs.front(), looked_at.empty() ? "the program" : looked_at));
    return text;
}

} // namespace

void declare_align_options(CLI::App& subcommand, AlignOptions& options) {
    subcommand.add_option("--align", options.mode,
                          "Catch unaligned accesses: find (which lines), exact (also how often; slower) or off" +
                              fmt::format(" (default: {})", kDefaultMode))
        ->check(CLI::IsMember({"find", "exact", "off"}))
        ->type_name("MODE");
    subcommand.add_option("--align-modules", options.modules,
                          "Globs of libraries whose unaligned accesses count (default: all but the C library)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("GLOB");
    subcommand.add_option("--align-skip", options.skip, "Globs of libraries whose unaligned accesses do not count")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("GLOB");
    subcommand.add_flag("--fatal", options.fatal,
                        "With --align=exact: end the program with SIGBUS at the first unaligned access, for a debugger or a "
                        "core dump");
    subcommand.add_option("--only-file", options.only_files,
                          "With --fatal: only an access in source files that match this glob ends the program")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("GLOB");
}

void apply_align_options(const AlignOptions& wanted, bool heap_given, record::Options& options) {
    const auto names = [](const std::vector<std::string>& list) { return std::ranges::find(list, "align") != list.end(); };
    if (names(options.without) && !wanted.mode.empty() && wanted.mode != "off")
        throw Error("--align=" + wanted.mode + " and --without=align contradict each other: drop one");
    if (wanted.fatal && ((!wanted.mode.empty() && wanted.mode != "exact") || names(options.without)))
        throw Error("--fatal needs --align=exact: without it, unaligned accesses can pass unseen before one ends the program");
    if (!wanted.only_files.empty() && !wanted.fatal)
        throw Error("--only-file limits --fatal: add --fatal. To limit the report, use plumb report --only-file");
    options.align = names(options.without) ? "off"
                    : wanted.fatal         ? "exact"
                    : !wanted.mode.empty() ? wanted.mode
                    : names(options.with)  ? "find"
                                           : kDefaultMode;
    options.align_modules = wanted.modules;
    options.align_skip = wanted.skip;
    options.align_fatal = wanted.fatal;
    if (!wanted.only_files.empty())
        options.align_ranges = ranges_of(options.command, wanted.only_files);
    // Which allocation an address belongs to is only known of every block when every block is recorded.
    if (options.align == "exact" && !heap_given)
        options.heap = "full";
}

} // namespace plumb
