set(sources rows.cpp label_match.cpp circuit_breaker.cpp circuit_report.cpp own_service.cpp
  match_conditions.cpp review_request.cpp review_answer.cpp review_decoding.cpp stated_kind.cpp webhook_metrics.cpp webhook_configuration.cpp hook_client.cpp
  hook.cpp hook_source.cpp hook_match.cpp hook_selection.cpp hook_call.cpp hook_patch.cpp patch_problem.cpp
  webhook_plugin.cpp mutating_webhooks.cpp validating_webhooks.cpp)
set(tests own_service_test.cpp review_test.cpp configuration_test.cpp hook_match_test.cpp hook_call_test.cpp validating_webhooks_test.cpp)
