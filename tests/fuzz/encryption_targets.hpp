// Targets of the plugin `encryption`: stored values, and the file of --encryption-provider-config.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace backplane::fuzz {

// Reads the bytes as a stored value, and writes them as a plain value.
void encryption_envelopes(std::string_view bytes);
std::vector<std::string> encryption_envelope_seeds();

void encryption_configuration(std::string_view bytes);
std::vector<std::string> encryption_configuration_seeds();

}  // namespace backplane::fuzz
