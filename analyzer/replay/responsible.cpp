#include "replay/responsible.h"

#include "replay/messages/window_waits.h"
#include "support/error.h"

#include <algorithm>

namespace plumb::replay {

namespace {

// Each epoch has one awaited rank, which alone finds its root.
struct FoundRoots {
    struct Root {
        uint32_t epoch, row;
    };
    std::vector<Root> roots;

    void merge(FoundRoots&& other) { roots.insert(roots.end(), other.roots.begin(), other.roots.end()); }
    template <class Carrier> void carry(Carrier& carrier) { carrier(roots); }
    bool fits(const Job& job) const {
        return std::ranges::all_of(roots, [&](const Root& root) { return root.row < job.ranks.size() || root.row == UINT32_MAX; });
    }
};

} // namespace

Responsible find_responsible(const model::Run& run, const Job& job, const EpochTable& epochs,
                             const MatchedMessages& messages, const OpenTrace& open, const RankWork& work) {
    Responsible responsible;
    for (const Epoch& epoch : epochs.epochs())
        responsible.push_back(epoch.complete ? epoch.awaited().row : UINT32_MAX);
    if (messages.waits.empty())
        return responsible;
    const auto none = [] { return FoundRoots(); };
    const FoundRoots roots = work.of_all(none, [&](uint32_t row, FoundRoots& found) {
        size_t hint = 0;
        try {
            RankEvents(run, job.ranks[row]).visit(open, [&](const Collective& event) {
                const Epoch* epoch = epochs.find(event.membership->comm, event.sequence, hint);
                if (!epoch || !epoch->complete || epoch->awaited().row != row)
                    return;
                const WindowWaits waits = waits_before(messages, row, event);
                if (waits.longest && waits.sum > event.compute() - epoch->median_compute)
                    found.roots.push_back({static_cast<uint32_t>(epoch - epochs.epochs().data()),
                                           causes_of(messages, *waits.longest).main_row()});
            });
        } catch (const Error&) { // the other readings tell it
        }
    });
    for (const FoundRoots::Root& root : roots.roots)
        if (root.epoch < responsible.size())
            responsible[root.epoch] = root.row;
    return responsible;
}

} // namespace plumb::replay
