// Losses in the order in which their CPU, or any CPU of their node, measured them, and how much of each is not yet explained by
// a class.
#pragma once

#include "model/noise.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace plumb::noise {

struct LossStream {
    uint32_t node = 0;
    int32_t cpu = -1;          // -1: all of the node
    size_t begin = 0, end = 0; // of the order of its level
};

struct LengthBand {
    double least_s = 0, most_s = 0;
    bool holds(double length_s) const { return length_s >= least_s && length_s < most_s; }
};

class LossStreams {
  public:
    enum class Level { cpu, node };

    explicit LossStreams(const model::NoiseLosses& losses);

    size_t count() const { return begin_s_.size(); }
    std::span<const LossStream> streams(Level level) const { return level == Level::cpu ? cpus_ : nodes_; }
    uint32_t at(Level level, size_t place) const {
        return level == Level::cpu ? static_cast<uint32_t>(place) : by_node_[place];
    }

    // Of one loss, by what at() returns.
    double begin_s(uint32_t loss) const { return begin_s_[loss]; }
    double length_s(uint32_t loss) const { return length_s_[loss]; }
    float left_s(uint32_t loss) const { return left_s_[loss]; } // not explained
    void explain(uint32_t loss, double length_s);               // what is then left is dropped where it is too short to judge
    size_t cpu_stream_of(uint32_t loss) const;
    std::span<const LossStream> cpus_of(const LossStream& node) const;

    std::pair<uint32_t, uint32_t> begun_in(const LossStream& cpu, double from_s,
                                           double to_s) const; // of Level::cpu: first and end

    double measured_s() const { return measured_s_; }
    double least_s() const { return least_s_; }
    // How exactly begins are known: fixed quanta of work show only in which of them an event began.
    double grain_s() const { return grain_s_; }

  private:
    std::vector<double> begin_s_; // by node, CPU, begin
    std::vector<float> length_s_, left_s_;
    std::vector<uint32_t> by_node_; // by node, begin
    std::vector<LossStream> cpus_, nodes_;
    double measured_s_ = 0, least_s_ = 0, grain_s_ = 0;
};

} // namespace plumb::noise
