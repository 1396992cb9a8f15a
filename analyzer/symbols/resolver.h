// The resolver behind model::SourceResolver: addresses to source lines by ELF symbols and DWARF debug info.
// Whoever includes this sees nothing of elfutils.
#pragma once

#include "model/run.h"
#include "model/source_resolver.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace plumb::symbols {

using SourceMap = std::pair<std::string, std::string>; // a path that begins with .first is shown with .second

struct Options {
    std::string sysroot;                 // files of the run are looked for below it, and nowhere else
    std::vector<SourceMap> source_maps;  // the first that matches is applied
    // Where files lie whose folders the run does not record (plumb run --redact). Else `sysroot` itself is looked into, and
    // the build id must be the recorded one.
    std::set<std::string> known_paths;
    std::vector<std::string> debug_directories{"/usr/lib/debug"};
    bool debuginfod = true;     // ask the servers of $DEBUGINFOD_URLS; nothing is asked where that is not set
    std::string cache_file;     // resolved frames are kept here between reports; "": nowhere
    std::string run_directory;  // perf-PID.map files are looked for here before /tmp; may be empty
    bool own_run = false;       // recorded on this host, in a directory of this user: its sources may be shown
    bool same_boot = false;     // the run was made on this host since it booted: its kernel and /tmp are here
    bool names_kernel = true;   // addresses in the kernel will be asked for
    std::string machine_folder; // the kernel's names are kept there while the machine runs; "": nowhere
    uint64_t begin_unix_ns = 0; // launch of the run, 0: unknown; older map files belong to another process
    std::string root;           // prefix of /proc and /tmp, for tests
};

// What a report of `run` uses when the user asked for nothing: the cache lies in the run directory if that is
// writable, else in $XDG_CACHE_HOME/plumb (~/.cache/plumb).
Options options_for(const model::Run& run);

// "OLD=NEW"; throws Error when there is no '=' or OLD is empty.
SourceMap parse_source_map(const std::string& text);

// Never throws on account of files: what is missing or broken is reported by notes() of the resolver.
std::unique_ptr<model::SourceResolver> make_resolver(Options options);

} // namespace plumb::symbols
