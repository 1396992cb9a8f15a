// The noise that was measured on one host, under construction.
#pragma once

#include "model/measured_noise.h"
#include "trace/context/file_context.h"

#include <plumb/trace_format.h>

namespace plumb::trace {

class NoiseBuilder {
  public:
    explicit NoiseBuilder(model::MeasuredNoise& noise) : noise_(noise) {}

    void take(const NoiseCpu& record, FileContext& context);
    void take(const NoiseLoss& record, FileContext& context);
    void take(const NoiseSeries& record, FileContext& context);

    void finish(); // brings it into the model's order

  private:
    model::MeasuredNoise& noise_;
};

} // namespace plumb::trace
