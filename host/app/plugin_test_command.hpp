// `backplane plugin test`: conformance checks of the API groups of a plugin, on a throw-away server or on one that runs; also with a
// sanitizer in the plugin, and with altered bodies.
//
// Thread-safety: the main thread.
// Errors:        the exit code: 0 every check holds, 1 some do not or cannot be made.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/net/client.hpp"

namespace CLI {
class App;
}

namespace backplane {

class PluginTestCommand {
 public:
  void add_to(CLI::App& app);
  // The exit code if the command was given.
  std::optional<int> run(std::ostream& out, std::ostream& err);

 private:
  int test_folder(std::ostream& out, std::ostream& err);
  int test_server(const std::string& kubeconfig, std::ostream& out, std::ostream& err);
  int check(const ClientConfig& server, const std::vector<Object>& samples, std::ostream& out, std::ostream& err);
  Status check_flags();
  Status read_sample_files(std::vector<Object>& samples) const;

  CLI::App* command_ = nullptr;
  std::string folder_ = ".", kubeconfig_, sanitizer_, fuzz_, findings_;
  std::vector<std::string> groups_, samples_, flags_, replays_;
  bool verbose_ = false;
};

}  // namespace backplane
