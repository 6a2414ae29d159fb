// Targets of authorization: the configuration file, ABAC policies, and the kubeconfigs of webhooks.
#pragma once

#include <string_view>

namespace backplane::fuzz {

void abac_policies(std::string_view bytes);
void authorization_configurations(std::string_view bytes);
void kubeconfigs(std::string_view bytes);

}  // namespace backplane::fuzz
