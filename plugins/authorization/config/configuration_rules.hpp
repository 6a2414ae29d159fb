// Validates an AuthorizationConfiguration.
//
// Thread-safety: pure function; reads the metadata of kubeconfig files.
// Source:        k8s.io/apiserver/pkg/apis/apiserver/validation/validation.go.
#pragma once

#include "config/configuration.hpp"

namespace backplane::authorization {

void validate_configuration(const AuthorizationConfig& config, FieldErrors& errors);

}  // namespace backplane::authorization
