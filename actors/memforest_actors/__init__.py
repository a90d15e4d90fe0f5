"""Every line that knows Ray: forests as virtual actors, stateless pools for models, and the cluster they live on."""
