// Which processes are recorded. Everything that a run starts inherits the preload; shells, launchers and build
// drivers only start the programs that matter and stay dormant: no file, hooks that pass through.
#pragma once

namespace plumb::shim {

enum class FilterVerdict { recorded, launcher, not_included, excluded };

// `executable`: absolute path; `invoked_as`: argv[0] (decides for multi-call binaries), may be null; `include`,
// `exclude`: colon-separated globs or null, each matched against the path and against the base name; `direct`: the
// user named this very program as the one to run, so that a build driver is what he wants to see.
// A program that an include glob names is recorded even if it is a launcher.
FilterVerdict filter_verdict_of(const char* executable, const char* invoked_as, const char* include,
                                const char* exclude, bool direct);

// The program that `plumb run` itself started, as opposed to what that program starts.
bool is_direct_child_of_plumb();

// Glob with *, ? and [...]; `*` crosses slashes. Linear in practice, never recursive.
bool matches_glob(const char* pattern, const char* pattern_end, const char* text);

const char* describe(FilterVerdict);

} // namespace plumb::shim
