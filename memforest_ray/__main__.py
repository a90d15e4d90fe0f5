"""`python -m memforest_ray`: the program, where its script is not on the path."""

from memforest_ray.cli import main

if __name__ == "__main__":
    main()
