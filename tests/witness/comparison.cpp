#include "comparison.h"

#include <algorithm>

namespace plumb::witness {

namespace {

uint64_t lookup_pc(const Walk& walk, size_t frame) { return walk.frames[frame] - (frame > 0 ? 1 : 0); }

// Why ours differs from the others behind its first `common` frames.
Agreement explain(const Walk& ours, size_t common, const ModuleFiles& files, LibdwflWalker& descriptions) {
    for (size_t frame = 0; frame < common; ++frame)
        if (files.is_of_two(lookup_pc(ours, frame)))
            return Agreement::two_files;
    for (size_t frame = 0; frame < common; ++frame)
        if (descriptions.caller_by(lookup_pc(ours, frame)) == CallerBy::nothing)
            return Agreement::no_description;
    const bool ends = common > 0 && common == ours.frames.size() && !ours.complete;
    if (ends && descriptions.caller_by(lookup_pc(ours, common - 1)) == CallerBy::another_register)
        return Agreement::another_register;
    return Agreement::unexplained;
}

size_t common_frames(const Walk& a, const Walk& b) {
    const size_t least = std::min(a.frames.size(), b.frames.size());
    const auto first = a.frames.begin();
    return static_cast<size_t>(std::mismatch(first, first + static_cast<ptrdiff_t>(least), b.frames.begin()).first - first);
}

} // namespace

Agreement compare_with_libdwfl(const Walk& ours, const Walk& libdwfl, const ModuleFiles& files, LibdwflWalker& descriptions) {
    return ours.frames == libdwfl.frames ? Agreement::same : explain(ours, common_frames(ours, libdwfl), files, descriptions);
}

Agreement compare_with_libunwind(const Walk& ours, const Walk& libunwind, const Walk& libdwfl, const ModuleFiles& files,
                                 LibdwflWalker& descriptions) {
    const size_t common = common_frames(ours, libunwind);
    const bool guessed = libunwind.first_guess < libunwind.frames.size();
    if (ours.frames == libunwind.frames && (ours.complete == libunwind.complete || guessed))
        return Agreement::same;
    const Agreement reason = explain(ours, common, files, descriptions);
    if (reason == Agreement::unexplained && libunwind.gave_up && common == libunwind.frames.size() && ours.frames == libdwfl.frames)
        return Agreement::gave_up;
    if (reason != Agreement::unexplained || !guessed || libunwind.first_guess >= common)
        return reason;
    return compare_with_libdwfl(ours, libdwfl, files, descriptions) == Agreement::unexplained ? Agreement::unexplained
                                                                                             : Agreement::hidden_description;
}

} // namespace plumb::witness
