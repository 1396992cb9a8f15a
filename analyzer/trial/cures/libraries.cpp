// Other builds of libraries that the program loads, of the same interface: BLAS, LAPACK, FFT.
#include "support/exchangeable_libraries.h"
#include "trial/cures/families.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb::trial {

namespace {

std::vector<std::string> files_for(const ExchangeableLibrary& interface, const Facts& facts) {
    std::vector<std::string> files;
    for (const Library& other : facts.others)
        if (other.name == interface.name)
            files.push_back(other.path);
    for (const Library& library : facts.installed)
        if (interface.also && library.name == interface.also &&
            std::ranges::find(facts.loaded, library.name) == facts.loaded.end())
            files.push_back(library.name);
    return files;
}

} // namespace

std::vector<Cure> library_cures(const Facts& facts) {
    std::vector<Cure> cures;
    for (const ExchangeableLibrary& interface : kExchangeableLibraries) {
        Cure cure{
            .id = interface.id, .what = fmt::format("use another {}", interface.what), .family = interface.id, .change = {}};
        cure.answers = {"libopenblas"};
        const bool is_loaded = std::ranges::find(facts.loaded, interface.name) != facts.loaded.end();
        const std::vector<std::string> files = files_for(interface, facts);
        cure.why_not = !is_loaded                      ? fmt::format("the program does not load {}", interface.name)
                       : !facts.why_no_preload.empty() ? "it cannot be preloaded: " + facts.why_no_preload
                       : files.empty()                 ? fmt::format("no other {} is installed", interface.name)
                                                       : "";
        if (!cure.why_not.empty()) {
            cures.push_back(cure);
            continue;
        }
        if (const auto share = facts.library_fractions.find(interface.name);
            share != facts.library_fractions.end() && share->second >= kSpeaksFor)
            cure.why_tried = fmt::format("{:.0f} % of the CPU time is in {}", 100 * share->second, interface.name);
        for (size_t i = 0; i < files.size(); ++i) {
            Cure one = cure;
            if (i > 0)
                one.id += fmt::format("-{}", i + 1);
            one.what = fmt::format("use {} as the {}", files[i], interface.what);
            one.change.preload = files[i];
            cures.push_back(one);
        }
    }
    return cures;
}

} // namespace plumb::trial
