#include "app/reencrypt_cli.hpp"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "app/reencrypt.hpp"
#include "base/io_loop.hpp"
#include "base/log.hpp"
#include "base/plain_message.hpp"
#include "base/progress_line.hpp"
#include "base/task_group.hpp"
#include "client/remote_client.hpp"

namespace backplane {
namespace {

constexpr int kMostWorkers = 256, kLargestPage = 10'000;

int failed(const Status& status) {
  flush_logs();
  std::cerr << "Error: " << plain_message(status) << '\n';
  return 1;
}

Result<ClientConfig> config_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (path.empty() || !(text << file.rdbuf())) return bad_request("the kubeconfig " + backplane::quoted(path) + " cannot be read");
  auto config = client_config_from_kubeconfig(text.str());
  if (config.ok()) config->user_agent = "backplane-store-reencrypt";
  return config;
}

std::string line_of(const ReencryptSettings::Done& done) {
  return done.resource + ": objects=" + std::to_string(done.objects) + " written=" + std::to_string(done.written) +
         " failed=" + std::to_string(done.failed);
}

int report(const Result<ReencryptReport>& result, const std::string& progress_file) {
  if (!result.ok()) return failed(result.status());
  for (const std::string& error : result->errors) std::cerr << "Error: " << error << '\n';
  std::cout << (result->resumed ? "completed an interrupted run: " : "") << result->resources << " resources, " << result->objects
            << " objects, " << result->written << " written, " << result->failed << " failed\n";
  if (result->failed == 0) return 0;
  if (!progress_file.empty())
    std::cout << "resources that are complete are noted in " << progress_file << "; repeat the command for the others\n";
  return 1;
}

}  // namespace

CLI::App* add_reencrypt_command(CLI::App& app, ReencryptOptions& options) {
  auto* command = app.add_subcommand(
      "reencrypt",
      "Writes the objects of encrypted resources again if they are stored with another key than the current one, through "
      "the API of a running server. An interrupted run continues if the command is repeated");
  if (const char* path = std::getenv("KUBECONFIG")) options.kubeconfig = path;
  command->add_option("--kubeconfig", options.kubeconfig, "the server and an administrator's credentials; default: $KUBECONFIG");
  command->add_option("--resource", options.resources, "only this resource (secrets, widgets.example.com); repeatable")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--progress-file", options.progress_file, "where the progress is noted; empty: nowhere")->capture_default_str();
  command->add_option("--workers", options.workers, "writes at the same time")->check(CLI::Range(1, kMostWorkers))->capture_default_str();
  command->add_option("--page-size", options.page, "objects in one list request")
      ->check(CLI::Range(1, kLargestPage))
      ->capture_default_str();
  return command;
}

int run_reencrypt(const ReencryptOptions& options) {
  auto config = config_of(options.kubeconfig);
  if (!config.ok()) return failed(config.status());
  IoLoop loop("store");
  LoggedTaskGroup tasks;
  ReencryptSettings settings;
  settings.server = config->server;
  auto client = make_remote_client(loop, tasks, std::move(*config));
  if (!client.ok()) return failed(client.status());
  loop.start();
  settings.client = std::move(*client);
  settings.progress_file = options.progress_file;
  settings.resources = options.resources;
  settings.workers = static_cast<std::size_t>(options.workers);
  settings.page = options.page;
  settings.progress = [line = std::make_shared<ProgressLine>()](const auto& done, bool complete) {
    if (complete) return line->keep(line_of(done));
    if (line->is_due()) line->show(line_of(done) + " …");
  };
  auto working = reencrypt(std::move(settings));
  const auto result = run_on(loop, std::move(working));
  tasks.close();
  run_on(loop, tasks.wait_all());
  loop.stop();
  return report(result, options.progress_file);
}

}  // namespace backplane
