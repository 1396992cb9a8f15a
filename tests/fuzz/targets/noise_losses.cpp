#include "target.h"

#include "noise/classes_file.h"
#include "noise/find_classes.h"
#include "noise/losses_csv.h"
#include "support/error.h"

#include <sstream>

namespace plumb::fuzz {

// Classes are sought in what is no large table: that takes its time.
void run_noise_losses(Bytes input) {
    constexpr size_t kMostLosses = 500;
    constexpr uint32_t kMostNodes = 4096;
    std::istringstream text{std::string(as_text(input))};
    try {
        const noise::LossesTable table = noise::parse_losses_table(text, "l.csv");
        for (size_t index = 1; index < table.losses.losses.size(); ++index)
            require(table.losses.losses[index - 1].node <= table.losses.losses[index].node);
        if (table.losses.losses.size() > kMostLosses || table.losses.nodes > kMostNodes)
            return;
        const noise::FoundNoise found = noise::find_noise(table.losses);
        require(found.unexplained <= table.losses.losses.size());
        // What was found is a valid file of classes.
        noise::parse_classes(noise::classes_text(found.machine), "found");
    } catch (const Error&) {
    }
}

Seeds seeds_of_noise_losses() {
    std::string periodic = "# measured_s=10\n# nodes=2\n# cpus_per_node=2\n# least_s=1e-4\nnode,cpu,time_s,loss_s\n";
    for (int event = 0; event < 40; ++event)
        periodic += std::to_string(event % 2) + ",1," + std::to_string(0.25 * event) + ",0.004\n";
    return {{"periodic", periodic},
            {"units", "loss_us,cpu,node,time_ms\n640,0,0,125\n640,0,0,250\n640,0,0,375\n640,0,0,500\n650,0,0,625\n"},
            {"odd", "# nodes=16777216\r\nnode,cpu,time_s,loss_s\r\n16777215,16383,1e9,1e-9\r\n0,0,0,1\r\n"}};
}

} // namespace plumb::fuzz
