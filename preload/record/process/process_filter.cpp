#include "record/process/process_filter.h"

#include "platform/os/files.h"
#include "platform/os/ids_and_clocks.h"
#include "platform/os/text.h"

#include <plumb/build_drivers.h>
#include <limits.h>
#include <string.h>

namespace plumb::shim {
namespace {

// They never do the work themselves.
constexpr const char* kLaunchers[] = {
    // shells and what wraps a command line
    "sh", "bash", "rbash", "dash", "zsh", "ksh", "mksh", "fish", "tcsh", "csh", "busybox", "env", "nice", "ionice",
    "chrt", "time", "timeout", "taskset", "numactl", "setarch", "stdbuf", "nohup", "setsid", "unshare", "chroot",
    "xargs", "parallel", "sudo", "su", "script", "strace", "ltrace", "gdb", "perf",
    // parallel launchers and their daemons
    "mpirun", "mpiexec", "orterun", "oshrun", "prterun", "prun", "orted", "prted", "prte", "mpiexec.hydra",
    "mpirun.hydra", "mpirun.openmpi", "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich", "hydra_pmi_proxy",
    "hydra_bstrap_proxy", "hydra_nameserver", "srun", "salloc", "sbatch", "slurmstepd", "jsrun", "aprun", "ssh",
    "rsh", "dbclient", "plumb"};

template <size_t N> bool names(const char* const (&list)[N], const char* name) {
    for (const char* entry : list)
        if (strcmp(entry, name) == 0)
            return true;
    return false;
}

bool matches_list(const char* globs, const char* path) {
    for (const char* glob = globs; *glob;) {
        const char* end = strchrnul(glob, ':');
        if (end > glob && (matches_glob(glob, end, path) || matches_glob(glob, end, base_name(path))))
            return true;
        glob = *end ? end + 1 : end;
    }
    return false;
}

// Matches one pattern element against one character and moves the pattern behind it; false: no match.
bool matches_one(const char*& pattern, const char* end, char character) {
    if (*pattern == '[') {
        const char* p = pattern + 1;
        const bool negated = p < end && (*p == '!' || *p == '^');
        p += negated;
        bool found = false;
        for (bool first = true; p < end && (first || *p != ']'); first = false) {
            const char low = *p++;
            char high = low;
            if (p + 1 < end && *p == '-' && p[1] != ']') {
                high = p[1];
                p += 2;
            }
            found |= low <= character && character <= high;
        }
        if (p < end) { // an unclosed bracket is a plain character
            pattern = p + 1;
            return found != negated;
        }
    }
    const bool matched = *pattern == '?' || *pattern == character;
    ++pattern;
    return matched;
}

} // namespace

bool matches_glob(const char* pattern, const char* pattern_end, const char* text) {
    const char* after_star = nullptr; // where to go on when a match behind the last star fails
    const char* star_text = nullptr;
    while (*text) {
        if (pattern < pattern_end && *pattern == '*') {
            after_star = ++pattern;
            star_text = text;
            continue;
        }
        if (pattern < pattern_end && matches_one(pattern, pattern_end, *text)) {
            ++text;
            continue;
        }
        if (!after_star)
            return false;
        pattern = after_star;
        text = ++star_text;
    }
    while (pattern < pattern_end && *pattern == '*')
        ++pattern;
    return pattern == pattern_end;
}

bool is_direct_child_of_plumb() {
    Text<64> link;
    char parent[PATH_MAX];
    link << "/proc/" << parent_process_id() << "/exe";
    return read_link(link.c_str(), parent, sizeof parent) > 0 && strcmp(base_name(parent), "plumb") == 0;
}

FilterVerdict filter_verdict_of(const char* executable, const char* invoked_as, const char* include,
                                const char* exclude, bool direct) {
    if (exclude && matches_list(exclude, executable))
        return FilterVerdict::excluded;
    if (include)
        return matches_list(include, executable) ? FilterVerdict::recorded : FilterVerdict::not_included;
    const char* name = base_name(executable);
    if (strcmp(name, "busybox") == 0 && invoked_as)
        name = base_name(invoked_as);
    if (names(kLaunchers, name) || (!direct && names(kBuildDrivers, name)))
        return FilterVerdict::launcher;
    return FilterVerdict::recorded;
}

const char* describe(FilterVerdict scope) {
    switch (scope) {
    case FilterVerdict::recorded: return "recorded";
    case FilterVerdict::launcher: return "dormant: a shell, launcher or build driver";
    case FilterVerdict::not_included: return "dormant: no glob of PLUMB_INCLUDE matches it";
    case FilterVerdict::excluded: return "dormant: a glob of PLUMB_EXCLUDE matches it";
    }
    return "";
}

} // namespace plumb::shim
