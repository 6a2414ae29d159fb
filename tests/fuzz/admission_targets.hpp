// Targets of admission: responses of webhooks, their patches, and the configuration files of admission plugins.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace backplane::fuzz {

void admission_answers(std::string_view bytes);
void admission_patches(std::string_view bytes);
void admission_configurations(std::string_view bytes);
std::vector<std::string> admission_answer_seeds();
std::vector<std::string> admission_patch_seeds();
std::vector<std::string> admission_configuration_seeds();

}  // namespace backplane::fuzz
