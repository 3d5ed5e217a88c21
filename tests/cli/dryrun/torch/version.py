__version__ = "2.8.0+cu128"
cuda = "12.8"
