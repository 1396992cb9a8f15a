#include "record/calibrate/known_line_transfers.h"

#include "record/calibrate/calibration.h"

#include <algorithm>
#include <fmt/format.h>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace plumb::record {

namespace {

constexpr unsigned kLeastWork = 2, kLongestWork = 1 << 8;
constexpr double kWithoutPause = 0.8; // of the time: loops of little else

// The tasks of one form on two CPUs.
class FormTimes {
  public:
    FormTimes(platform::MachineCache& cache, std::string name, LineForm form, unsigned words, uint64_t now_ns,
         const TimeLineTask& measure)
        : cache_(cache), name_(std::move(name)), task_{form, words, 0}, now_ns_(now_ns), measure_(measure) {}

    LineTimes times() const { return times_; }

    void begin() { times_ = timed(0); }

    void slow_down_to(double share) {
        if (share >= kWithoutPause)
            return;
        while (times_.contended_ps > 0 && times_.share > share && task_.work < kLongestWork) {
            const LineTimes next = timed(std::max(task_.work * 2, kLeastWork));
            if (next.contended_ps == 0)
                return;
            times_ = next;
        }
    }

  private:
    LineTimes timed(unsigned work) {
        task_.work = work;
        const std::string name = fmt::format("{} {}", name_, work);
        if (const auto kept = cache_.find(name))
            if (const auto known = parse(*kept))
                return *known;
        const LineTimes times = measure_(task_);
        if (times.contended_ps > 0)
            cache_.keep(name, fmt::format("{} {} {} {:.4f}", now_ns_, times.own_ps, times.contended_ps, times.share));
        return times;
    }

    std::optional<LineTimes> parse(const std::string& text) const {
        std::istringstream in(text);
        in.imbue(std::locale::classic());
        uint64_t then_ns = 0;
        LineTimes times;
        if (!(in >> then_ns >> times.own_ps >> times.contended_ps >> times.share) || now_ns_ < then_ns ||
            now_ns_ - then_ns > kFreshFor_ns || times.own_ps == 0 || times.contended_ps == 0)
            return std::nullopt;
        return times;
    }

    platform::MachineCache& cache_;
    const std::string name_;
    LineTask task_;
    const uint64_t now_ns_;
    const TimeLineTask& measure_;
    LineTimes times_;
};

} // namespace

void LineAccesses::add(uint16_t flags) {
    const bool loads = flags & trace::kAlignLoad, stores = flags & trace::kAlignStore;
    if (flags & trace::kAlignLocked)
        locked = true;
    else if (loads && stores)
        update = true;
    else if (stores)
        store = true;
    else if (loads)
        load = true;
}

trace::LineTransfer known_line_transfers(platform::MachineCache& cache, int cpu, int other_cpu, const LineAccesses& accesses,
                                         uint64_t now_ns, const TimeLineTask& measure) {
    trace::LineTransfer record{};
    record.cpu = cpu;
    record.other_cpu = other_cpu;
    struct Wanted {
        FormTimes form;
        uint64_t &own_ps, &contended_ps;
    };
    std::vector<Wanted> all;
    const unsigned words = std::clamp(accesses.words, 1u, kMostLineWords);
    const auto want = [&](bool wanted, LineForm form, const char* name, uint64_t& own_ps, uint64_t& contended_ps) {
        if (wanted)
            all.push_back({FormTimes(cache, fmt::format("line {} {} {} {}", name, words, cpu, other_cpu), form, words, now_ns,
                                     measure),
                           own_ps, contended_ps});
    };
    want(accesses.locked, LineForm::locked, "locked", record.own_locked_ps, record.contended_locked_ps);
    want(accesses.update, LineForm::update, "update", record.own_update_ps, record.contended_update_ps);
    want(accesses.store, LineForm::store, "store", record.own_store_ps, record.contended_store_ps);
    want(accesses.load, LineForm::load, "load", record.own_load_ps, record.contended_load_ps);
    for (Wanted& each : all)
        each.form.begin();
    for (Wanted& each : all) {
        each.form.slow_down_to(accesses.share);
        each.own_ps = each.form.times().own_ps;
        each.contended_ps = each.form.times().contended_ps;
    }
    return record;
}

} // namespace plumb::record
