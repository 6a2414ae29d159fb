#include "app/doctor.hpp"

#include <algorithm>
#include <cstdio>
#include <iomanip>
#include <iostream>

#include "app/file_owner.hpp"
#include "app/paths.hpp"
#include "backplane/core/json.hpp"
#include "base/log.hpp"
#include "base/plain_message.hpp"

namespace backplane {
namespace {

constexpr const char* kHelp =
    "Checks the host, the data directory and the flags of a server, and says how to repair what is wrong.\n\n"
    "Usage:\n"
    "  backplane doctor [-o json] [--kubeconfig FILE] [flags of the server]\n\n"
    "  -o, --output FORMAT   text or json\n"
    "      --kubeconfig FILE  check this one; default: admin.kubeconfig in --data-dir\n\n"
    "The exit code is 1 if there is an error, and 0 if there are only warnings.\n";

constexpr void (*kChecks[])(const DoctorSubject&, Diagnoses&) = {check_data_directory, check_disk,         check_open_files,
                                                                 check_clock,          check_certificates, check_port,
                                                                 check_store,          check_plugins,      check_kubeconfig};

struct DoctorArguments {
  std::string output = "text", kubeconfig;
  bool help = false;
  std::vector<std::string> server;
};

// Separates the command's own options from the flags of the server.
DoctorArguments own_arguments(int argc, char** argv) {
  DoctorArguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&](const std::string& name, std::string& into) {
      if (word.starts_with(name + "=")) into = word.substr(name.size() + 1);
      if (word == name && i + 1 < argc) into = argv[++i];
      return word == name || word.starts_with(name + "=");
    };
    if (word == "--help" || word == "-h") out.help = true;
    if (value("-o", out.output) || value("--output", out.output) || value("--kubeconfig", out.kubeconfig)) continue;
    out.server.push_back(word);
  }
  return out;
}

std::string_view level_name(DiagnosisLevel level) {
  return level == DiagnosisLevel::kOk ? "ok" : level == DiagnosisLevel::kWarning ? "warning" : "error";
}

void print_text(const Diagnoses& all) {
  for (const Diagnosis& each : all) {
    std::cout << std::left << std::setw(9) << level_name(each.level) << std::setw(14) << each.check << plain_message(each.message) << '\n';
    if (!each.fix.empty()) std::cout << std::string(23, ' ') << "fix: " << each.fix << '\n';
  }
}

void print_json(const Diagnoses& all) {
  Array rows;
  for (const Diagnosis& each : all) {
    Object row{{"check", each.check}, {"level", level_name(each.level)}, {"message", each.message}};
    if (!each.fix.empty()) row["fix"] = each.fix;
    rows.emplace_back(std::move(row));
  }
  std::cout << pretty_json(to_json(Object{{"checks", std::move(rows)}}));
}

void check_flags(const CompletedOptions& options, Diagnoses& out) {
  const Problems problems = options.validate();
  for (const std::string& problem : problems)
    out.push_back({"flags", DiagnosisLevel::kError, problem, "change the flag; backplane --help explains it"});
  if (problems.empty()) out.push_back({"flags", DiagnosisLevel::kOk, "valid"});
}

bool is_running(const std::string& data_dir) {
  const FileOwner owner = FileOwner::of(data_dir);
  const auto lock = DataDirLock::take(data_dir);
  return !lock.ok() && lock.status().reason() == Reason::kConflict;
}

int finish(const Diagnoses& all, const std::string& output) {
  output == "json" ? print_json(all) : print_text(all);
  return std::any_of(all.begin(), all.end(), [](const Diagnosis& each) { return each.level == DiagnosisLevel::kError; }) ? 1 : 0;
}

}  // namespace

int run_doctor(int argc, char** argv) {
  const DoctorArguments own = own_arguments(argc, argv);
  if (own.help) {
    std::cout << kHelp;
    return 0;
  }
  auto options = std::make_unique<Options>();
  Status parsed = options->flags.parse(own.server);
  if (parsed.ok() && own.output != "text" && own.output != "json") parsed = bad_request("--output: must be text or json");
  if (!parsed.ok()) {
    std::cerr << "Error: " << plain_message(parsed) << "\nRun 'backplane doctor --help' for usage.\n";
    return 2;
  }
  set_log_level("error");
  auto completed = Options::complete(std::move(options));
  Diagnoses all;
  if (!completed.ok()) {
    all.push_back({"flags", DiagnosisLevel::kError, completed.status().message(), "change the flag"});
    return finish(all, own.output);
  }
  check_flags(*completed, all);
  const std::string& data_dir = (*completed)->backplane.data_dir;
  const DoctorSubject subject{**completed, own.kubeconfig.empty() ? data_dir + "/admin.kubeconfig" : own.kubeconfig, is_running(data_dir)};
  for (const auto check : kChecks) check(subject, all);
  flush_logs();
  return finish(all, own.output);
}

}  // namespace backplane
