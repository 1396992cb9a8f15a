#include "analysis/profile.h"
#include "model/source_line.h"

#include <algorithm>
#include <map>

namespace plumb {

namespace {

using LeafKey = std::pair<std::string, std::string>; // function, module

struct LineTimes {
    model::SourceFrame frame;
    double ns = 0, kernel_ns = 0;
    std::map<LeafKey, double> leaves;
};

class Accumulator {
  public:
    void add(model::CallPaths& paths, size_t process, const model::SampleSite& site) {
        if (site.samples == 0)
            return;
        const double ns = static_cast<double>(site.time_ns);
        const double kernel_ns = ns * static_cast<double>(std::min(site.kernel_samples, site.samples)) /
                                 static_cast<double>(site.samples);
        const model::SourceFrame leaf = without_offset(paths.frames_of(process, site.path).front());
        const model::SourceFrame user = without_offset(paths.user_frame(process, site.path));
        LineTimes& line = lines_[model::source_line(user)];
        if (line.ns == 0)
            line.frame = user;
        line.ns += ns;
        line.kernel_ns += kernel_ns;
        line.leaves[{leaf.function, leaf.module}] += ns;
        libraries_[leaf.module] += ns - kernel_ns;
        libraries_["[kernel]"] += kernel_ns;
        total_ns_ += ns;
        samples_ += site.samples;
    }

    Profile finish(size_t line_limit) const {
        Profile profile;
        profile.seconds = total_ns_ * 1e-9;
        profile.samples = samples_;
        for (const auto& [key, times] : lines_)
            profile.lines.push_back(hot_line(times));
        for (const auto& [module, ns] : libraries_)
            if (ns > 0)
                profile.libraries.push_back({module, ns * 1e-9, ns / total_ns_});
        const auto by_time = [](const auto& left, const auto& right) { return left.seconds > right.seconds; };
        std::stable_sort(profile.lines.begin(), profile.lines.end(), by_time);
        std::stable_sort(profile.libraries.begin(), profile.libraries.end(), by_time);
        if (profile.lines.size() > line_limit)
            profile.lines.resize(line_limit);
        return profile;
    }

  private:
    HotLine hot_line(const LineTimes& times) const {
        const auto hottest =
            std::max_element(times.leaves.begin(), times.leaves.end(),
                             [](const auto& left, const auto& right) { return left.second < right.second; });
        HotLine line;
        line.frame = times.frame;
        line.leaf_function = hottest->first.first;
        line.leaf_module = hottest->first.second;
        line.seconds = times.ns * 1e-9;
        line.fraction = total_ns_ > 0 ? times.ns / total_ns_ : 0;
        line.kernel_fraction = times.ns > 0 ? times.kernel_ns / times.ns : 0;
        return line;
    }

    std::map<model::SourceLine, LineTimes> lines_;
    std::map<std::string, double> libraries_;
    double total_ns_ = 0;
    uint64_t samples_ = 0;
};

} // namespace

model::SourceFrame without_offset(model::SourceFrame frame) {
    if (frame.line == 0)
        if (const size_t plus = frame.function.rfind("+0x"); plus != std::string::npos)
            frame.function =
                frame.function.substr(0, plus) == frame.module ? "" : frame.function.substr(0, plus);
    return frame;
}

Profile build_profile(model::CallPaths& paths, size_t line_limit) {
    Accumulator accumulator;
    const std::vector<model::Process>& processes = paths.run().processes;
    for (size_t process = 0; process < processes.size(); process++)
        for (const model::SampleSite& site : processes[process].samples)
            accumulator.add(paths, process, site);
    return accumulator.finish(line_limit);
}

} // namespace plumb
