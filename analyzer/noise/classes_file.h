// Noise classes as a file:
//
//   { "schema": "plumb-noise/1", "name": "..", "nodes": n, "cpus_per_node": n,
//     "classes": [ { "name": "..", "group": "..", "period_ms": 125 | "frequency_hz": 8,
//                    "duration_ms": 0.64, "duration_spread_ms": 0, "duration_quantiles_ms": [..],
//                    "duration_shape": "constant|uniform|normal|exponential|measured",
//                    "regularity": "periodic|poisson", "jitter": 0, "phase": "independent|together",
//                    "scope": "node|cpu", "cpus": [..], "nodes": {"every": 32, "offsets": [0, 1]}, "fitted": ["period_ms"],
//                    "events": n, "confidence": 0..1, "loss_share": 0..1 } ] }
//
// Needed are name, period_ms or frequency_hz, and duration_ms; the rest has the defaults of model/noise.h.
#pragma once

#include "model/noise.h"

#include <string>

namespace plumb::noise {

// Throw Error, naming the file, the class and the key: what is no such file, and values that cannot be meant.
model::NoiseMachine read_classes_file(const std::string& path);
model::NoiseMachine parse_classes(const std::string& text, const std::string& path);

std::string classes_text(const model::NoiseMachine& machine); // JSON, with a newline at its end

} // namespace plumb::noise
