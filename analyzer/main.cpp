// plumb: reads the command line and hands over to one of the commands.
#include "commands/command.h"
#include "commands/target_command.h"
#include "reports/complain.h"
#include "reports/words/utf8.h"
#include "support/error.h"
#include "support/start_up_memory.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

namespace {

// Help and version on the standard output; errors, which repeat words of the command line, pass the gate of all messages.
int say(const CLI::App& app, const CLI::ParseError& error) {
    std::ostringstream asked, wrong;
    const int status = app.exit(error, asked, wrong);
    std::cout << asked.str() << std::flush;
    std::cerr << plumb::sanitised_lines(wrong.str()) << std::flush;
    return status;
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app{"plumb: what is out of plumb in a run, on which source line, what it costs, what to do", "plumb"};
    app.require_subcommand(1);
    app.set_version_flag("--version", PLUMB_VERSION);
    std::map<const CLI::App*, plumb::CommandAction> actions;
    for (const plumb::CommandEntry& command : plumb::command_registry()) {
        CLI::App* subcommand = app.add_subcommand(command.name, command.summary);
        actions[subcommand] = command.declare(*subcommand);
    }
    try {
        app.parse(plumb::set_aside_target(argc, argv), argv);
        const CLI::App* const chosen = app.get_subcommands().front();
        if (chosen->get_name() != "run") // which ends it when it knows its program
            plumb::end_start_up_memory();
        return actions.at(chosen)();
    } catch (const CLI::ParseError& error) {
        return say(app, error) == 0 ? 0 : 125;
    } catch (const plumb::Error& error) {
        plumb::complain(error.what());
        return error.exit_status();
    } catch (const std::exception& error) {
        plumb::complain(std::string("internal error: ") + error.what());
        return 125;
    }
}
