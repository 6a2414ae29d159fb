#include "app/plugin_commands.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>

#include "app/plugin_actions.hpp"
#include "app/plugin_author.hpp"
#include "backplane/core/json_access.hpp"
#include "base/io_loop.hpp"
#include "base/log.hpp"
#include "base/plain_message.hpp"
#include "base/task_group.hpp"
#include "client/remote_client.hpp"
#include "plugin/plugin_status.hpp"

namespace backplane {
namespace {

// The limit of a request. Changes take time, because a new build runs its hooks before it replaces the former one.
constexpr std::chrono::seconds kLongest{150};

struct SentCommand {
  PluginAction action;
  const char* about;
  bool takes_file, needs_file;
};
constexpr SentCommand kSentCommands[] = {
    {PluginAction::kReload,
     "Puts a new build in place of the one that runs, from the plugin's file or from --file; plugins that depend on it are reloaded with "
     "it",
     true, false},
    {PluginAction::kUpgrade, "Puts the build of --file in place of the one that runs", true, true},
    {PluginAction::kRollback, "Puts the former build back in place", false, false},
    {PluginAction::kDisable, "Withdraws the plugin with all that it has registered, until the server restarts", false, false},
    {PluginAction::kEnable, "Adds a plugin that does not run: from its file in the plugin directories, or from --file", true, false},
    {PluginAction::kForget, "Ends the service of the groups of a plugin that is gone, of which no object is left", false, false}};

struct CommandOptions {
  std::string kubeconfig, name, file;
  bool dry_run = false, force = false, cascade = false;
};

Result<ClientConfig> server_of(const std::string& kubeconfig) {
  if (kubeconfig.empty()) return bad_request("--kubeconfig: name the server's kubeconfig, or set KUBECONFIG");
  std::ifstream file(kubeconfig);
  std::ostringstream text;
  if (!(text << file.rdbuf())) return bad_request("the kubeconfig " + backplane::quoted(kubeconfig) + " cannot be read");
  auto config = client_config_from_kubeconfig(text.str());
  if (config.ok()) config->user_agent = "backplane-plugin";
  return config;
}

Task<Result<std::string>> exchange_with(HttpClient& client, HttpCall call) {
  auto calling = client.call(std::move(call));
  auto answer = co_await std::move(calling);
  if (!answer.ok()) co_return std::move(answer.status());
  auto reading = read_all(**answer);
  auto body = co_await std::move(reading);
  if (!body.ok()) co_return std::move(body.status());
  if ((*answer)->code() == 200) co_return body;
  boost::system::error_code error;
  const Value status = boost::json::parse(*body, error);
  if (error || !status.is_object())
    co_return internal_error("the server returned code " + std::to_string((*answer)->code()) + ": " + *body);
  co_return Status(Reason::kBadRequest, std::string(get_string(status.get_object(), "message")));
}

Result<Object> send_to(const std::string& kubeconfig, HttpCall call) {
  auto config = server_of(kubeconfig);
  if (!config.ok()) return std::move(config.status());
  IoLoop loop("client");
  LoggedTaskGroup tasks;
  auto client = make_remote_client(loop, tasks, std::move(*config));
  if (!client.ok()) return std::move(client.status());
  loop.start();
  call.deadline = std::chrono::steady_clock::now() + kLongest;
  auto body = run_on(loop, exchange_with(**client, std::move(call)));
  client->reset();
  tasks.close();
  run_on(loop, tasks.wait_all());
  loop.stop();
  if (!body.ok()) return std::move(body.status());
  boost::system::error_code error;
  Value value = boost::json::parse(*body, error);
  if (error || !value.is_object()) return internal_error("the server's answer is not a JSON object");
  return std::move(value.get_object());
}

class ServerPluginCommands final : public PluginCommands {
 public:
  void add_to(CLI::App& app, CLI::App& list) override {
    list_ = &list;
    author_->add_to(app, list);
    if (const char* path = std::getenv("KUBECONFIG")) default_kubeconfig_ = path;
    list.add_option("--kubeconfig", list_kubeconfig_, "list the plugins of this running server instead of files");
    for (const auto& row : kSentCommands) {
      auto* command = app.add_subcommand(std::string(action_name(row.action)), row.about);
      command->add_option("name", options_.name, "name of the plugin")->required();
      command->add_option("--kubeconfig", options_.kubeconfig, "the server and an administrator's credentials; default: $KUBECONFIG");
      command->add_flag("--dry-run", options_.dry_run, "verify, plan and stage the change, and do not put it in place");
      if (row.action == PluginAction::kForget) {
        command->add_flag("--force", options_.force, "although objects are left; they stay in the store");
      }
      if (row.action == PluginAction::kDisable) {
        command->add_flag("--cascade", options_.cascade, "together with the plugins that require it; without, these are an error");
      }
      if (row.takes_file) {
        auto* file = command->add_option("--file", options_.file, "shared object, on the server's machine");
        if (row.needs_file) file->required();
      }
      commands_.emplace_back(command, row.action);
    }
  }

  std::optional<int> run(std::ostream& out, std::ostream& err) override {
    if (const auto code = author_->run(out, err)) return code;
    for (const auto& [command, action] : commands_) {
      if (*command) return change(action, out, err);
    }
    if (*list_ && !list_kubeconfig_.empty()) return list(out, err);
    return std::nullopt;
  }

 private:
  static int failed(const Status& status, std::ostream& err) {
    flush_logs();
    err << "Error: " << plain_message(status) << "\n";
    return 1;
  }

  int change(PluginAction action, std::ostream& out, std::ostream& err) const {
    set_log_level("error");
    Object body{{"name", options_.name}};
    if (!options_.file.empty()) body["file"] = std::filesystem::absolute(options_.file).lexically_normal().string();
    if (options_.dry_run) body["dryRun"] = true;
    if (options_.force) body["force"] = true;
    if (options_.cascade) body["cascade"] = true;
    HttpCall call;
    call.method = "POST";
    call.target = "/plugins/" + std::string(action_name(action));
    call.headers.emplace_back("Content-Type", "application/json");
    call.body = to_json(body);
    const auto acted = send_to(options_.kubeconfig.empty() ? default_kubeconfig_ : options_.kubeconfig, std::move(call));
    if (!acted.ok()) return failed(acted.status(), err);
    out << get_string(*acted, "message") << "\n";
    return 0;
  }

  int list(std::ostream& out, std::ostream& err) const {
    set_log_level("error");
    HttpCall call;
    call.target = "/plugins";
    const auto found = send_to(list_kubeconfig_, std::move(call));
    if (!found.ok()) return failed(found.status(), err);
    const Value* plugins = found->if_contains("plugins");
    if (plugins == nullptr || !plugins->is_array()) return failed(internal_error("the server's answer has no list of plugins"), err);
    const auto* output = list_->get_option("--output");
    const bool json = output->count() > 0 && output->as<std::string>() == "json";
    out << (json ? pretty_json(to_json(*found)) : statuses_as_text(plugins->get_array()));
    return 0;
  }

  const std::unique_ptr<PluginCommands> author_ = make_author_commands();
  CLI::App* list_ = nullptr;
  std::vector<std::pair<CLI::App*, PluginAction>> commands_;
  std::string default_kubeconfig_, list_kubeconfig_;
  CommandOptions options_;
};

}  // namespace

std::unique_ptr<PluginCommands> make_plugin_commands() { return std::make_unique<ServerPluginCommands>(); }

}  // namespace backplane
