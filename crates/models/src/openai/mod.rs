//! OpenAI Chat Completions, as OpenAI, Ollama, llama.cpp, vLLM and others speak it.
