#include "analyses/noise/process_losses.h"

#include <algorithm>
#include <map>
#include <set>

namespace plumb {

using LossCause = model::MeasuredLoss::Cause;

namespace {

bool is_of_process(const model::MeasuredLoss& loss) {
    return loss.cause == LossCause::process || loss.cause == LossCause::process_sometime;
}

} // namespace

std::string process_group(const std::string& name) {
    const size_t slash = name.find('/');
    return slash == std::string::npos || slash == 0 ? name : name.substr(0, slash);
}

std::vector<std::string> process_groups(const model::MeasuredNoise& noise) {
    std::set<std::string> groups;
    for (const model::MeasuredLoss& loss : noise.losses)
        if (is_of_process(loss))
            groups.insert(process_group(loss.name));
    return {groups.begin(), groups.end()};
}

std::vector<NoiseBurst> bursts_of_process(const model::MeasuredNoise& noise, const std::string& group) {
    std::map<uint32_t, std::vector<const model::MeasuredLoss*>> by_process;
    for (const model::MeasuredLoss& loss : noise.losses)
        if (is_of_process(loss) && process_group(loss.name) == group)
            by_process[loss.pid ? loss.pid : loss.tid].push_back(&loss);
    const ProgramTime program(noise);
    std::vector<NoiseBurst> all;
    for (auto& [pid, losses] : by_process) {
        std::ranges::stable_sort(losses, {}, &model::MeasuredLoss::begin_ns);
        const std::vector<NoiseBurst> bursts = bursts_of(losses, program);
        all.insert(all.end(), bursts.begin(), bursts.end());
    }
    std::erase_if(all, [](const NoiseBurst& burst) { return burst.known_ns == 0; });
    std::ranges::stable_sort(all, {}, &NoiseBurst::begin_ns);
    return all;
}

std::vector<const model::MeasuredLoss*> losses_to_process(const model::MeasuredNoise& noise, const std::string& group) {
    std::vector<const model::MeasuredLoss*> losses;
    for (const model::MeasuredLoss& loss : noise.losses)
        if (is_of_process(loss) && process_group(loss.name) == group)
            losses.push_back(&loss);
    return losses;
}

} // namespace plumb
