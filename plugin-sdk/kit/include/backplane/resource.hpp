// The main header for plugins that serve API groups.
//
//   kit::install_group     installs a group from its document, its schemas, and C++ code if a kind does more than its schema
//   KindFacts, Strategy    a kind: facts as data, and additional behaviour; kit::KindStrategy has the behaviour of most kinds
//   FieldErrors            the errors of an object, by field
//   RestStorage, …         the roles of a storage, for resources that Host::make_storage cannot make
//
// This header only includes other headers, which contain the contracts.
#pragma once

#include "backplane/core/json_access.hpp"
#include "backplane/core/status.hpp"
#include "backplane/kit/group.hpp"
#include "backplane/kit/group_document.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/rest/api_group.hpp"
#include "backplane/rest/resource_config.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "backplane/rest/strategy.hpp"
#include "backplane/rest/table.hpp"
#include "backplane/rest/update_info.hpp"
#include "backplane/types/schema.hpp"
