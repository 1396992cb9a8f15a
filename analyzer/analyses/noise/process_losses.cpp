#include "analyses/noise/process_losses.h"

#include <algorithm>
#include <map>
#include <set>

namespace plumb {

using LossCause = model::MeasuredLoss::Cause;

std::string process_group(const std::string& name) {
    const size_t slash = name.find('/');
    return slash == std::string::npos || slash == 0 ? name : name.substr(0, slash);
}

std::vector<std::string> process_groups(const model::MeasuredNoise& noise) {
    std::set<std::string> groups;
    for (const model::MeasuredLoss& loss : noise.losses)
        if (loss.cause == LossCause::process)
            groups.insert(process_group(loss.name));
    return {groups.begin(), groups.end()};
}

std::vector<NoiseBurst> bursts_of_process(const model::MeasuredNoise& noise, const std::string& group) {
    std::map<uint32_t, std::vector<const model::MeasuredLoss*>> by_process;
    for (const model::MeasuredLoss& loss : noise.losses)
        if (loss.cause == LossCause::process && process_group(loss.name) == group)
            by_process[loss.pid ? loss.pid : loss.tid].push_back(&loss);
    const ProgramTime program(noise);
    std::vector<NoiseBurst> all;
    for (auto& [pid, losses] : by_process) {
        std::ranges::stable_sort(losses, {}, &model::MeasuredLoss::begin_ns);
        const std::vector<NoiseBurst> bursts = bursts_of(losses, program);
        all.insert(all.end(), bursts.begin(), bursts.end());
    }
    std::ranges::stable_sort(all, {}, &NoiseBurst::begin_ns);
    return all;
}

} // namespace plumb
