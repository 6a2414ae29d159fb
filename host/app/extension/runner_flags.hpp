// The flags of backplane-runner beyond those of backplane.
//
// Thread-safety: startup, one thread.
// Errors:        validate(): every problem, one line each.
#pragma once

#include <string>
#include <vector>

#include "app/flag_set.hpp"
#include "app/options.hpp"

namespace backplane {

struct RunnerFlags {
  std::string kubeconfig;
  std::vector<std::string> plugins;  // files
  bool api_groups = true, admission_webhooks = false, unregister = false;
  std::string service_namespace = "kube-system", service_name, external_name;
  std::string url_base;
  std::vector<std::string> webhook_resources;
  std::vector<std::string> always_allow_paths{"/healthz", "/readyz", "/livez"};

  void add_flags(FlagSet& flags);
  // `flags`: all flags of the command line.
  void validate(const FlagSet& flags, Problems& problems) const;
};

}  // namespace backplane
