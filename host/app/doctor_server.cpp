// The checks of the server itself (doctor.hpp): its store, its plugins, and a kubeconfig.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/doctor.hpp"
#include "app/find_inspection.hpp"
#include "app/store_session.hpp"
#include "backplane/net/client.hpp"
#include "backplane/points/store_inspection.hpp"
#include "base/progress_line.hpp"
#include "base/task_group.hpp"
#include "client/remote_client.hpp"
#include "plugin/plugin_registry.hpp"

namespace backplane {
namespace {

constexpr std::chrono::seconds kAnswerLimit{10};

// Returns the status code and the body of the response.
Task<Result<std::pair<int, std::string>>> get(HttpClient& client, std::string path) {
  HttpCall call;
  call.target = std::move(path);
  call.deadline = std::chrono::steady_clock::now() + kAnswerLimit;
  auto calling = client.call(std::move(call));
  auto answer = co_await std::move(calling);
  if (!answer.ok()) co_return std::move(answer.status());
  auto reading = read_all(**answer);
  auto body = co_await std::move(reading);
  if (!body.ok()) co_return std::move(body.status());
  co_return std::pair<int, std::string>((*answer)->code(), std::move(*body));
}

Result<std::pair<int, std::string>> ask_server(ClientConfig config, const std::string& path) {
  IoLoop loop("doctor");
  LoggedTaskGroup tasks;
  config.user_agent = "backplane-doctor";
  auto client = make_remote_client(loop, tasks, std::move(config));
  if (!client.ok()) return std::move(client.status());
  loop.start();
  auto asking = get(**client, path);
  auto answer = run_on(loop, std::move(asking));
  client->reset();
  tasks.close();
  run_on(loop, tasks.wait_all());
  loop.stop();
  return answer;
}

StoreFlags store_of(const Options& options) {
  StoreFlags flags;
  if (options.storage.backend == "etcd3") {
    flags.name = "etcd:";
    for (const auto& url : options.storage.etcd_servers) flags.name += (flags.name.ends_with(':') ? "" : ",") + url;
    flags.prefix = options.storage.etcd_prefix;
    flags.cafile = options.storage.etcd_cafile;
    flags.certfile = options.storage.etcd_certfile;
    flags.keyfile = options.storage.etcd_keyfile;
  } else {
    flags.name = "rocksdb:" + options.backplane.data_dir;
    flags.served = true;
  }
  return flags;
}

Result<std::string> look_at_store(const Options& options) {
  auto opener = StoreOpener::make(options.backplane.plugin_dirs);
  if (!opener.ok()) return std::move(opener.status());
  StoreSession session(**opener);
  auto store = session.open(store_of(options));
  if (!store.ok()) return std::move(store.status());
  auto* const inspection = find_inspection(**store);
  if (inspection == nullptr) return std::string("it answers");
  auto asking = inspection->facts();
  const auto facts = run_on(session.loop(), std::move(asking));
  if (!facts.ok()) return facts.status();
  return "it opens: revision " + std::to_string(facts->revision) + ", " + shown_bytes(static_cast<std::uint64_t>(facts->file_bytes)) +
         " in " + std::to_string(facts->files) + " files";
}

}  // namespace

void check_store(const DoctorSubject& subject, Diagnoses& out) {
  const auto& storage = subject.options.storage;
  std::error_code error;
  const bool embedded = storage.backend == "rocksdb";
  if (!embedded && storage.backend != "etcd3") {
    out.push_back({"store", DiagnosisLevel::kOk, storage.backend + " is not checked"});
  } else if (embedded && !std::filesystem::exists(subject.options.backplane.data_dir + "/rocksdb/CURRENT", error)) {
    out.push_back({"store", DiagnosisLevel::kOk, "there is none yet; the first startup makes it"});
  } else if (const auto found = look_at_store(subject.options); found.ok()) {
    out.push_back({"store", DiagnosisLevel::kOk, *found + (embedded ? "; backplane store check reads all of it" : "")});
  } else {
    out.push_back({"store", DiagnosisLevel::kError, found.status().message(),
                   embedded ? "backplane store check names what is damaged; restore a snapshot with backplane store restore"
                            : "check --etcd-servers and its certificates, and etcd's log"});
  }
}

void check_plugins(const DoctorSubject& subject, Diagnoses& out) {
  const auto& own = subject.options.backplane;
  Findings findings;
  PlanOptions wanted;
  wanted.disabled = own.disable_plugins;
  wanted.required = own.require_plugins;
  wanted.host_capabilities = host_capabilities();
  wanted.storage = subject.options.storage.backend;
  const Plan plan = plan_plugins(inspect_directories(own.plugin_dirs, findings), wanted);
  for (const Findings* more : {&plan.general, &plan.fatal}) findings.insert(findings.end(), more->begin(), more->end());
  for (const PlannedPlugin& plugin : plan.plugins) {
    if (plugin.state == PluginState::kDisabled) continue;
    for (Finding finding : plugin.inspected.findings) {
      finding.message = plugin.inspected.path + ": " + finding.message;
      findings.push_back(std::move(finding));
    }
  }
  std::size_t reported = 0;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::kInfo) continue;
    ++reported;
    out.push_back({"plugins", finding.severity == Severity::kError ? DiagnosisLevel::kError : DiagnosisLevel::kWarning,
                   std::string(finding.code) + " " + finding.message,
                   finding.fix.empty() ? "backplane plugin check explains it" : finding.fix});
  }
  const auto running = plan.start_order.size();
  if (running == 0) {
    out.push_back(
        {"plugins", DiagnosisLevel::kError, "no plugin runs: nothing is served", "name the directory of the plugins with --plugin-dir"});
  } else if (reported == 0) {
    out.push_back({"plugins", DiagnosisLevel::kOk, std::to_string(running) + " fit this server"});
  }
}

void check_kubeconfig(const DoctorSubject& subject, Diagnoses& out) {
  std::ifstream file(subject.kubeconfig, std::ios::binary);
  std::ostringstream text;
  const bool readable = static_cast<bool>(text << file.rdbuf());
  const bool own = subject.kubeconfig == subject.options.backplane.data_dir + "/admin.kubeconfig";
  const std::string fix =
      own ? "restart the server: startup writes the file anew" : "write the kubeconfig anew, from the server's admin.kubeconfig";
  if (!readable && own && !subject.running) {
    out.push_back({"kubeconfig", DiagnosisLevel::kOk, "there is none yet; the first startup writes it"});
    return;
  }
  auto config = readable ? client_config_from_kubeconfig(text.str()) : Result<ClientConfig>(bad_request("it cannot be read"));
  if (!config.ok()) {
    out.push_back({"kubeconfig", DiagnosisLevel::kError, subject.kubeconfig + ": " + config.status().message(), fix});
    return;
  }
  const std::string server = config->server;
  if (own && !subject.running) {
    out.push_back({"kubeconfig", DiagnosisLevel::kOk, subject.kubeconfig + " can be read; the server does not run"});
    return;
  }
  const auto answer = ask_server(std::move(*config), "/readyz");
  if (!answer.ok()) {
    out.push_back({"kubeconfig", DiagnosisLevel::kError, server + ": " + answer.status().message(),
                   "start the server, or correct the URL and the certificate authority"});
  } else if (answer->first == 401 || answer->first == 403) {
    out.push_back({"kubeconfig", DiagnosisLevel::kError, server + " refuses its credentials: code " + std::to_string(answer->first), fix});
  } else if (answer->first != 200) {
    out.push_back({"kubeconfig", DiagnosisLevel::kError, server + " is not ready: " + answer->second.substr(0, 500),
                   "the checks marked [-] name the reason; see the server's log"});
  } else {
    out.push_back({"kubeconfig", DiagnosisLevel::kOk, subject.kubeconfig + ": " + server + " is ready"});
  }
}

}  // namespace backplane
