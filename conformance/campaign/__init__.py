"""Many cases on many engines. (So far: how well the suite tells broken engines from correct ones.)"""
