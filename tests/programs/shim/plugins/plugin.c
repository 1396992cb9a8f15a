const int plugin_answer = 42;
