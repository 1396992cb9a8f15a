// Another malloc, by preload.
#include "trial/cures/families.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb::trial {

namespace {

constexpr const char* kGlibcMalloc = "glibc-malloc";

// An allocator with the names that its library has, the best first.
struct Allocator {
    const char* id;
    const char* what;
    std::vector<const char*> libraries;
};

std::string share_words(double fraction, const char* what) {
    return fmt::format("{:.0f} % of the time is {}", 100 * fraction, what);
}

} // namespace

std::vector<Cure> allocator_cures(const Facts& facts) {
    const Allocator kAllocators[] = {
        {"jemalloc", "use jemalloc instead of the C library's malloc", {"libjemalloc.so.2"}},
        {"tcmalloc", "use tcmalloc instead of the C library's malloc", {"libtcmalloc_minimal.so.4", "libtcmalloc.so.4"}},
        {"mimalloc", "use mimalloc instead of the C library's malloc", {"libmimalloc.so.2", "libmimalloc.so.3"}},
    };
    std::vector<Cure> cures;
    for (const Allocator& allocator : kAllocators) {
        Cure cure{.id = allocator.id, .what = allocator.what, .family = "allocator", .takes = kGlibcMalloc, .change = {}};
        for (const char* name : allocator.libraries) {
            const auto found = std::ranges::find(facts.installed, name, &Library::name);
            if (found != facts.installed.end() && cure.change.preload.empty())
                cure.change.preload = found->name; // the loader finds it, as it was found here
        }
        cure.answers = {"plumb try --cure jemalloc,"}; // try_allocators_line
        cure.is_part_of_answer = true; // findings promise what no allocation at all would save
        if (!facts.why_no_preload.empty())
            cure.why_not = "it cannot be preloaded: " + facts.why_no_preload;
        else if (!facts.has_glibc_malloc)
            cure.why_not = "the program has another allocator already";
        else if (cure.change.preload.empty())
            cure.why_not = fmt::format("{} is not installed", allocator.libraries.front());
        if (facts.allocator_fraction >= kSpeaksFor)
            cure.why_tried = share_words(facts.allocator_fraction, "in the allocator");
        cures.push_back(cure);
    }
    return cures;
}

} // namespace plumb::trial
